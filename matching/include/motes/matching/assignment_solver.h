#pragma once
/// The interface of assignment solvers: const inputs in, a Matching out; the execution resource comes first.

#include <span>

#include <motes/base/execution.h>
#include <motes/matching/answer.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// A warm start: a matching, duals, both or neither. It need not be optimal or consistent: the solver makes
/// the duals feasible and drops pairs that are not tight under them. All spans are in host memory.
struct Start {
  std::span<const Index> row_to_col;  ///< [rows], -1 = free; or empty
  std::span<const Cost> u;            ///< [rows], or empty
  std::span<const Cost> v;            ///< [cols], or empty
};

class AssignmentSolver {
 public:
  virtual ~AssignmentSolver() = default;

  /// Solves the problem to optimality and returns duals that prove it. The status is infeasible when a
  /// vertex that must be matched cannot be. Throws std::invalid_argument for a malformed problem or start
  /// (check_problem) and for a kind of costs, a memory space or a back end that the registry does not list
  /// for the solver; throws ResourceError if there is not enough memory or no usable device.
  Matching solve(const Execution& execution, const CostsView& problem, const Start& start = {}) const;

  /// The partners of the rows as solve() and then resolve_ties() (ties.h) give them: col_to_row and the duals
  /// are empty. `jv` on the GPU settles ties of graphs in device memory there, and copies nothing else to the
  /// host. `seconds` of the stats gain "ties".
  Matching solve_for_partners(const Execution& execution, const CostsView& problem) const;

 protected:
  /// For solve_for_partners, with a problem checked as for run().
  virtual Matching run_for_partners(const Execution& execution, const CostsView& problem) const;

 private:
  /// True if run() itself rejects bad matrix entries, as check_problem would, in a pass that it makes anyway.
  /// solve() then checks everything but the entries: reading a large matrix once more would take as long as
  /// solving it.
  virtual bool checks_entries(const Execution& execution, const CostsView& problem) const;
  void check(const Execution& execution, const CostsView& problem) const;

  /// Solves a problem that solve() has checked (except for the entries if checks_entries is true).
  virtual Matching run(const Execution& execution, const CostsView& problem, const Start& start) const = 0;
};

}  // namespace motes::matching
