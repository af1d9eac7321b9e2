#pragma once
/// Links nearest first: a heuristic beside the exact assignment.

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/problem.h>

namespace motes::tracking {

/// The pair that gains most over leaving both ends free (r_i + q_j - c_ij; where all ends cost the same, the
/// cheapest pair) is linked first, then the one that gains most of those that are left, as long as something
/// is gained. So at least half of the greatest gain is reached, and no proof is had that more cannot be:
/// status heuristic, no duals, and dual_objective is the cost if twice the gain could be had. The same links
/// for any number of threads, and, but for pairs of one and the same two positions, for any order of the
/// detections. Host problems whose vertices may all stay free, else std::invalid_argument. O(nnz log nnz).
matching::Matching greedy_matching(const Execution& execution, const matching::SparseCostsView& problem);

/// Throws std::logic_error unless the links are the one matching that nearest first gives. The links' pairs
/// must be edges. O(nnz).
void check_nearest_first(const matching::SparseCostsView& problem, const matching::Matching& links);

}  // namespace motes::tracking
