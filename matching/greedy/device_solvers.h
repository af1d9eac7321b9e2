#pragma once
/// The CUDA forms of greedy matching, without CUDA types. They accept problems in either memory space;
/// without a device they throw ResourceError. They fill row_to_col (and col_to_row for bipartite graphs)
/// and the stats; for problems in device memory also the objective (in the order of summation of
/// matching_weight.h).

#include <span>

#include <motes/matching/coarsen.h>

#include "matching/papers/greedy_proposal/proposal.h"

namespace motes::matching::device {

/// In which launches suitors propose; all give the same matching.
enum class SuitorPlan {
  automatic,
  wide_last,   ///< vertices of many edges after all others
  wide_first,  ///< before them
  pairs_first  ///< pairs of vertices that are each other's best neighbour first; general graphs, of others
               ///< wide_last
};

void greedy_suitor(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer,
                   SuitorPlan plan = SuitorPlan::automatic);

void greedy_proposal(const Execution& execution, const GreedyProblem& problem, const ProposalOptions& options,
                     GreedyAnswer& answer);

CoarseGraph coarsen(const Execution& execution, const GreedyProblem& problem, std::span<const Index> mate,
                    std::span<const double> vertex_weight);

/// coarsen_to() of a checked general graph. With `sizes` as coarsest_of(): these, and of the levels the last
/// alone, with the map of the problem's vertices.
std::vector<CoarseGraph> coarsen_to(const Execution& execution, const GreedyProblem& problem,
                                    const GreedySolver& solver, const CoarsenSettings& settings,
                                    std::vector<CoarseSize>* sizes);

}  // namespace motes::matching::device
