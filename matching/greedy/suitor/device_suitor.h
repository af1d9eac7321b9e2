#pragma once
/// The CUDA form of `greedy-suitor`, without CUDA types.

#include <motes/matching/greedy_solver.h>

namespace motes::matching::device {

/// The order of the launches in which vertices propose; all give the same matching.
enum class SuitorPlan {
  automatic,
  wide_last,   ///< vertices of many edges after all others
  wide_first,  ///< before them
  pairs_first  ///< general graphs: pairs of vertices that are each other's best neighbour first (on
               ///< bipartite graphs as wide_last)
};

/// Accepts problems in either memory space; throws ResourceError without a device. Fills row_to_col (and
/// col_to_row for bipartite graphs) and the stats; for problems in device memory also the objective (summed
/// in the order of matching_weight.h).
void greedy_suitor(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer,
                   SuitorPlan plan = SuitorPlan::automatic);

}  // namespace motes::matching::device
