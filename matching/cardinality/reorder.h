#pragma once
/// A graph numbered anew, so that neighbours lie near each other in memory.

#include <memory>
#include <optional>

#include "matching/cardinality/solver.h"

namespace motes::matching::detail {

/// Rows and columns in the order in which a breadth-first search meets them; both sides' lists follow.
struct Reordered {
  std::vector<Index> rows, cols;                  ///< of a new number, the old one
  std::vector<Offset> row_offsets, col_offsets;   ///< [rows + 1], [cols + 1]
  std::unique_ptr<Index[]> col_index, row_index;  ///< [nnz], in no order within a row or column

  TwoSidedGraph graph() const;
  Mates to_new(const Mates& mates) const;
  void to_old(const Mates& mates, Mates& out) const;
};

/// Whether the numbering says nothing of who is near whom: in most places of a sample, the first columns of
/// two rows in turn are far apart. O(1).
bool scattered(const BipartiteGraphView& graph);

/// Nothing, after part of the work, for a graph that has no such order: more than an eighth of the rows are
/// met at once (random graphs, graphs with hubs). Needs columns. O(rows + cols + nnz); 8 bytes an edge.
std::optional<Reordered> reorder(const TwoSidedGraph& graph);

/// Gives free rows a free column, few choices first: rows of low degree go first, and take the column of
/// least degree. Returns the pairs made. O(nnz).
std::int64_t match_scarce_first(const TwoSidedGraph& graph, Mates& mates);

}  // namespace motes::matching::detail
