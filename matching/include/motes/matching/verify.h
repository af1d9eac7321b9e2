#pragma once
/// Proof of an answer, independent of who gave it.

#include <string>

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/problem.h>

namespace motes::matching {

struct Certificate {
  bool matching_valid = false;           ///< mutual, along existing edges, every forced vertex matched
  bool dual_feasible = false;            ///< u_i + v_j <= c_ij on every edge, u_i <= r_i, v_j <= q_j
  bool tight = false;                    ///< complementary slackness holds
  double primal = 0, dual = 0, gap = 0;  ///< in cost steps; gap formed in 128-bit integers
  std::string fault;                     ///< the first fault found, in words; empty when none
  /// The matching is optimal, and this proves it.
  bool optimal() const { return matching_valid && dual_feasible && tight; }
};

/// Checks a matching and its duals against the problem, all in integers: nothing is trusted. Runs where
/// `execution` says; problems in device memory need the cuda back end.
/// O(size of the problem).
Certificate verify(const Execution& execution, const CostsView& problem, const Matching& matching);
/// On the CPU, with all threads.
Certificate verify(const CostsView& problem, const Matching& matching);

}  // namespace motes::matching
