#pragma once
/// The interface of maximum cardinality solvers: const inputs in, a Matching out.

#include <span>
#include <stdexcept>
#include <vector>

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/cardinality_problem.h>

namespace motes::matching {

/// Both sides of a graph, in host memory, with offsets of one type.
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

/// What a CPU solver works on.
using TwoSidedGraph = BasicTwoSidedGraph<Offset>;

/// A matching under way; both sides agree at all times that a caller can see.
struct Mates {
  std::vector<Index> row_to_col;  ///< [rows], -1 = free
  std::vector<Index> col_to_row;  ///< [cols], -1 = free
};

/// A start as it was given, for solvers on a device.
struct GivenStart {
  std::span<const Index> row_to_col;  ///< [rows], -1 = free; may be empty where there are no pairs
  std::int64_t pairs = 0;
};
/// Its pairs are not a matching, or some are not edges.
struct FaultyStart : std::invalid_argument {
  FaultyStart() : std::invalid_argument("start: some pair is not an edge or has the column of another") {}
};

namespace detail {
/// All free; the two sides' memory by a thread each, if there are two.
Mates no_mates(Index rows, Index cols, int threads);
}  // namespace detail

/// What the papers count. Zero or empty where a solver does not count it.
struct CardinalityStats {
  std::int64_t phases = 0;
  std::int64_t edges_traversed = 0;                  ///< edges looked at, by all threads
  std::int64_t augmentations = 0;                    ///< augmenting paths applied
  std::int64_t path_edges = 0;                       ///< their lengths summed, in edges
  std::vector<std::int64_t> levels;                  ///< BFS levels of each phase
  std::vector<std::int64_t> augmented;               ///< paths of each phase
  std::vector<std::vector<std::int64_t>> frontiers;  ///< of each phase: rows in the frontier of each level
  std::int64_t pushes = 0, relabels = 0, global_relabels = 0;
  std::map<std::string, double> seconds;  ///< per step, by the paper's names
};

struct CardinalityAnswer {
  Matching matching;  ///< status optimal; objective = dual_objective = cardinality, no duals
  CardinalityStats stats;
};

class CardinalitySolver {
 public:
  virtual ~CardinalitySolver() = default;

  /// A matching of greatest cardinality. `start` is any matching (row_to_col [rows], -1 = free; host memory)
  /// or empty; which of several maximum matchings comes out may depend on the solver and, for parallel
  /// solvers, on timing. Throws std::invalid_argument for a malformed problem or start (a pair that is no
  /// edge, a column twice) and ResourceError where memory or the device is lacking.
  CardinalityAnswer solve(const Execution& execution, const CardinalityProblem& problem,
                          std::span<const Index> start = {}) const;

 private:
  /// The columns' side is needed.
  virtual bool needs_columns() const = 0;
  /// Checked inputs; mates hold the start. Leaves a maximum matching in mates. Host memory, CPU.
  virtual void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                   CardinalityStats& stats) const = 0;
  /// The CUDA form: the problem in either space; of the start only the length is checked, and pairs with a
  /// fault end in FaultyStart. Leaves a maximum matching in mates and its gain in stats.augmentations. The
  /// default throws ResourceError: no CUDA form.
  virtual void run_on_device(const Execution& execution, const CardinalityProblem& problem,
                             const GivenStart& start, Mates& mates, CardinalityStats& stats) const;
};

}  // namespace motes::matching
