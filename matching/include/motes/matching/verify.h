#pragma once
/// Optimality certificates: checks an answer against its problem, independently of the solver.

#include <string>

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/problem.h>

namespace motes::matching {

struct Certificate {
  bool matching_valid = false;  ///< both sides agree, pairs are edges, no vertex that must be matched is free
  bool dual_feasible = false;   ///< u_i + v_j <= c_ij on every edge, u_i <= r_i, v_j <= q_j
  bool tight = false;           ///< complementary slackness: pairs are tight, free rows have u_i = r_i, and
                                ///< free columns v_j = q_j
  double primal = 0, dual = 0, gap = 0;  ///< in cost steps; the gap is computed in 128-bit integers
  std::string fault;                     ///< the first fault found, as text; empty if there is none
  /// The matching is proven to be optimal.
  bool optimal() const { return matching_valid && dual_feasible && tight; }
};

/// Checks a matching and its duals against the problem in exact integer arithmetic. Nothing in the answer is
/// trusted. Problems in device memory need the cuda back end. O(size of the problem).
Certificate verify(const Execution& execution, const CostsView& problem, const Matching& matching);
/// On the CPU, with all threads.
Certificate verify(const CostsView& problem, const Matching& matching);

}  // namespace motes::matching
