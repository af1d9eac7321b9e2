#pragma once
/// The one statement of the maximum cardinality problem: as many pairs as possible, each an edge of the
/// graph, no vertex in two.

#include <span>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

/// A graph, seen from its rows and, where the caller has it, from its columns too. A trivially copyable view.
struct CardinalityProblem {
  BipartiteGraphView graph;
  std::span<const Offset>
      col_offsets;                   ///< [cols + 1], or empty: solvers that need columns make it themselves
  std::span<const Index> row_index;  ///< [nnz], strictly increasing within a column; or empty
  Space space = Space::host;         ///< of all arrays above
};

/// The columns' side of a graph, owned.
struct Transposed {
  std::vector<Offset> col_offsets{0};  ///< [cols + 1]
  std::vector<Index> row_index;        ///< [nnz], strictly increasing within a column
};

/// Host graphs only. O(rows + cols + nnz), in `threads` threads (at least 1); the same for any number of
/// them. Needs 8 bytes an edge beside the answer.
Transposed transpose(const BipartiteGraphView& graph, int threads);

/// Throws std::invalid_argument naming the first fault: array lengths, offsets that fall, columns out of
/// range, unsorted or repeated columns; of the columns' side only lengths and totals. O(rows + cols + nnz).
/// Device graphs: lengths only. In `threads` threads.
void check_problem(const CardinalityProblem& problem, int threads = 1);

}  // namespace motes::matching
