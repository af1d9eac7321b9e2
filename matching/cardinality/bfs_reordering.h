#pragma once
/// Renumbers a graph so that neighbours are close to each other in memory.

#include <cstdint>
#include <optional>

#include <motes/base/raw_array.h>
#include <motes/matching/cardinality_solver.h>

namespace motes::matching::detail {

/// A graph of fewer than 2^32 edges.
using ReorderedGraph = BasicTwoSidedGraph<std::uint32_t>;

/// Rows and columns in the order in which a breadth-first search meets them; both sides' lists follow. Each
/// thread's search has a range of the new numbers, which is several neighbourhoods one after another.
struct BfsReordering {
  RawArray<Index> rows, cols;  ///< [rows + 1], [cols + 1], the last unused: of a new number, the old one
  RawArray<std::uint32_t> row_offsets, col_offsets;  ///< [rows + 1], [cols + 1]
  RawArray<Index> col_index, row_index;              ///< [nnz], in no order within a row or column
  std::vector<Index> row_borders, col_borders;       ///< [threads + 1] where the ranges begin, and all

  RawArray<Index> new_col;  ///< [cols] of an old number, the new one

  ReorderedGraph graph() const;
  Mates to_new(const Mates& mates, int threads) const;
};

/// Whether the numbering says nothing about which rows are near: in most places of a sample, columns of two
/// rows in turn are far apart. O(1).
bool scattered(const BipartiteGraphView& graph);

/// Whether renumbering is worth a try: scattered, no long lists, and no hubs in a sample of the rows.
/// O(1).
bool may_have_places(const BipartiteGraphView& graph);

/// Nothing, after part of the work, for a graph that has no such order (random graphs, graphs with hubs); nor
/// for one of 2^32 edges. Needs columns. Threads search from roots of their own, and where each one's
/// vertices end differs from run to run; they give up when a level has more than a quarter of one thread's
/// rows and half of those that it met, or 64 times the mean degree and four fifths of those that it met.
/// O(rows + cols + nnz); 16 bytes an edge until it ends, then 8.
std::optional<BfsReordering> bfs_reorder(const TwoSidedGraph& graph, int threads);

}  // namespace motes::matching::detail
