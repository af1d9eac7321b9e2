#pragma once
/// The maximum cardinality problem: as many pairs as possible, each an edge of a bipartite graph, with every
/// vertex in at most one pair.

#include <span>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

/// A graph by rows (CSR) and optionally also by columns (CSC). A trivially copyable view.
struct CardinalityProblem {
  BipartiteGraphView graph;
  /// [cols + 1], or empty: solvers that need the columns then compute them.
  std::span<const Offset> col_offsets;
  std::span<const Index> row_index;  ///< [nnz], strictly increasing within a column; or empty
  Space space = Space::host;         ///< of all arrays above
};

/// The column side of a graph (CSC), owned.
struct Transposed {
  std::vector<Offset> col_offsets{0};  ///< [cols + 1]
  std::vector<Index> row_index;        ///< [nnz], strictly increasing within a column
};

/// The column side of a host graph, on `threads` threads (at least 1); the result does not depend on their
/// number. O(rows + cols + nnz). Needs 8 bytes per edge besides the result.
Transposed transpose(const BipartiteGraphView& graph, int threads);

/// Throws std::invalid_argument naming the first fault: wrong array lengths, decreasing offsets, columns
/// out of range, unsorted or repeated columns. Of the column side only lengths and totals are checked, of
/// device graphs only lengths. O(rows + cols + nnz) on `threads` threads.
void check_problem(const CardinalityProblem& problem, int threads = 1);

}  // namespace motes::matching
