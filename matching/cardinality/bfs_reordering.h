#pragma once
/// Renumbers a graph so that neighbours are close to each other in memory.

#include <cstdint>
#include <optional>

#include <motes/base/raw_array.h>
#include <motes/matching/cardinality_solver.h>

namespace motes::matching::detail {

/// A graph of fewer than 2^32 edges.
using ReorderedGraph = BasicTwoSidedGraph<std::uint32_t>;

/// Rows and columns in the order in which a breadth-first search visits them, and the lists of both sides
/// in the new numbers. Each thread's search has a range of these, which consists of several neighbourhoods.
struct BfsReordering {
  RawArray<Index> rows, cols;  ///< [rows + 1], [cols + 1], the last unused: of a new number, the old one
  RawArray<std::uint32_t> row_offsets, col_offsets;  ///< [rows + 1], [cols + 1]
  RawArray<Index> col_index, row_index;              ///< [nnz], unsorted within a row or column
  std::vector<Index> row_borders, col_borders;  ///< [threads + 1] the starts of the ranges, and the total

  RawArray<Index> new_col;  ///< [cols] of an old number, the new one

  ReorderedGraph graph() const;
  Mates to_new(const Mates& mates, int threads) const;
};

/// Whether the numbering is unrelated to adjacency: for most rows of a sample, the columns of the row and
/// of the next one are far apart. O(1).
bool scattered(const BipartiteGraphView& graph);

/// Whether renumbering is worth trying: the numbering is scattered, and a sample of the rows has neither
/// long lists nor hubs. O(1).
bool may_have_places(const BipartiteGraphView& graph);

/// Renumbers a graph with both sides. Returns nothing, after part of the work, for graphs without
/// neighbourhoods (random graphs, graphs with hubs), and for 2^32 edges or more. Threads search from their
/// own roots, so that the borders between their vertices differ from run to run. They give up when a
/// frontier has more than a quarter of one thread's rows and half of the visited ones, or 64 times the mean
/// degree and four fifths of the visited ones. O(rows + cols + nnz); 16 bytes per edge during the work,
/// then 8.
std::optional<BfsReordering> bfs_reorder(const TwoSidedGraph& graph, int threads);

}  // namespace motes::matching::detail
