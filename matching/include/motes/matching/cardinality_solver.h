#pragma once
/// The interface of maximum cardinality solvers: const inputs in, a Matching out.

#include <span>
#include <stdexcept>
#include <vector>

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/cardinality_problem.h>

namespace motes::matching {

/// A graph by rows and by columns (CSR and CSC) in host memory.
template <class OffsetType>
struct BasicTwoSidedGraph {
  Index rows = 0, cols = 0;
  const OffsetType* row_offsets = nullptr;  ///< [rows + 1]
  const Index* col_index = nullptr;         ///< [nnz]
  const OffsetType* col_offsets = nullptr;  ///< [cols + 1]; nullptr unless the solver asked for columns
  const Index* row_index = nullptr;         ///< [nnz]; likewise

  std::span<const Index> cols_of(Index row) const {
    return {col_index + row_offsets[row], col_index + row_offsets[row + 1]};
  }
  std::span<const Index> rows_of(Index col) const {
    return {row_index + col_offsets[col], row_index + col_offsets[col + 1]};
  }
  Offset edges() const { return static_cast<Offset>(row_offsets[rows]); }
};

/// The graph of CPU solvers.
using TwoSidedGraph = BasicTwoSidedGraph<Offset>;

/// A matching in progress. The two arrays agree whenever a caller reads them.
struct Mates {
  std::vector<Index> row_to_col;  ///< [rows], -1 = free
  std::vector<Index> col_to_row;  ///< [cols], -1 = free
};

/// An unchecked starting matching, for solvers on a device.
struct GivenStart {
  std::span<const Index> row_to_col;  ///< [rows], -1 = free; may be empty if there are no pairs
  std::int64_t pairs = 0;
};
/// Thrown if the start is not a matching, or some pair of it is not an edge.
struct FaultyStart : std::invalid_argument {
  FaultyStart() : std::invalid_argument("start: some pair is not an edge or has the column of another") {}
};

namespace detail {
/// An empty matching. With two threads or more, each of two touches the memory of one side.
Mates no_mates(Index rows, Index cols, int threads);
}  // namespace detail

/// The counters that the papers report; zero or empty where a solver does not count them.
struct CardinalityStats {
  std::int64_t phases = 0;
  std::int64_t edges_traversed = 0;                  ///< by all threads
  std::int64_t augmentations = 0;                    ///< augmenting paths applied
  std::int64_t path_edges = 0;                       ///< total length of those paths, in edges
  std::vector<std::int64_t> levels;                  ///< [phases] BFS levels
  std::vector<std::int64_t> augmented;               ///< [phases] augmenting paths applied
  std::vector<std::vector<std::int64_t>> frontiers;  ///< [phases][levels] rows in the frontier
  std::int64_t pushes = 0, relabels = 0, global_relabels = 0;
  std::map<std::string, double> seconds;  ///< wall-clock time of each step, by the paper's names
};

struct CardinalityAnswer {
  Matching matching;  ///< status optimal; objective = dual_objective = cardinality, no duals
  CardinalityStats stats;
};

class CardinalitySolver {
 public:
  virtual ~CardinalitySolver() = default;

  /// A maximum matching. `start` is any matching (row_to_col [rows], -1 = free; host memory) or empty.
  /// Which of several maximum matchings is returned may depend on the solver and, for parallel solvers, on
  /// timing. Throws std::invalid_argument for a malformed problem or start (a pair that is not an edge, a
  /// column used twice) and ResourceError if there is not enough memory or no usable device.
  CardinalityAnswer solve(const Execution& execution, const CardinalityProblem& problem,
                          std::span<const Index> start = {}) const;

 private:
  /// Whether run() needs the graph's column side.
  virtual bool needs_columns() const = 0;
  /// Runs on the CPU, on checked inputs in host memory. `mates` holds the start and receives a maximum
  /// matching.
  virtual void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                   CardinalityStats& stats) const = 0;
  /// Runs on a GPU, on a problem in either memory space. Only the length of the start has been checked;
  /// throws FaultyStart for wrong pairs. `mates` receives a maximum matching, stats.augmentations the pairs
  /// gained. The default throws ResourceError: no CUDA form.
  virtual void run_on_device(const Execution& execution, const CardinalityProblem& problem,
                             const GivenStart& start, Mates& mates, CardinalityStats& stats) const;
};

}  // namespace motes::matching
