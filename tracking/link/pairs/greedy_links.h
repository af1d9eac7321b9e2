#pragma once
/// Nearest-first linking: a heuristic, in contrast to the exact assignment.

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/problem.h>

namespace motes::tracking {

/// Links the pair with the largest gain over two free ends (r_i + q_j - c_ij; if all ends cost the same, this
/// is the cheapest pair), then the one with the largest gain of the rest, while gains are positive. The total
/// gain is at least half of the optimum's. So the status is heuristic, there are no duals, and dual_objective
/// is the cost with twice the gain. The same links for any number of threads and (except for pairs with the
/// same two positions) any order of the detections. Throws std::invalid_argument unless the problem is in
/// host memory and all vertices may stay free. O(nnz log nnz).
matching::Matching greedy_matching(const Execution& execution, const matching::SparseCostsView& problem);

/// Throws std::logic_error unless the links are the matching that nearest-first linking gives. The linked
/// pairs must be edges. O(nnz).
void check_nearest_first(const matching::SparseCostsView& problem, const matching::Matching& links);

}  // namespace motes::tracking
