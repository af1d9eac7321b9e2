#pragma once
/// The solver interface: const inputs in, a Matching out; the execution resource comes first.

#include <span>

#include <motes/base/execution.h>
#include <motes/matching/answer.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// What a solver may start from: any matching, any duals, either, or nothing. Nothing is trusted: duals are
/// made feasible, and pairs that are not tight under them are dropped. Spans in host memory.
struct Start {
  std::span<const Index> row_to_col;  ///< [rows] -1 = free, or empty
  std::span<const Cost> u;            ///< [rows], or empty
  std::span<const Cost> v;            ///< [cols], or empty
};

class AssignmentSolver {
 public:
  virtual ~AssignmentSolver() = default;

  /// Solves the problem exactly (unless the registry says otherwise) and returns duals that prove it.
  /// Status is infeasible when a vertex that must be matched cannot be. Throws std::invalid_argument for a
  /// malformed problem or start (check_problem) and for kinds of costs, spaces and back ends that the
  /// registry does not list for it, and ResourceError where memory or the device is lacking.
  Matching solve(const Execution& execution, const CostsView& problem, const Start& start = {}) const;

 private:
  /// True where run() refuses a matrix's bad entries by itself, as check_problem does, in a pass that it has
  /// to make anyway: at a cycle an entry, reading a large matrix is what takes the time. solve() then checks
  /// all but the entries.
  virtual bool checks_entries(const Execution& execution, const CostsView& problem) const;

  /// The problem and start were checked, but for what checks_entries takes over.
  virtual Matching run(const Execution& execution, const CostsView& problem, const Start& start) const = 0;
};

}  // namespace motes::matching
