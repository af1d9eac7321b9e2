#pragma once
/// The CUDA forms of greedy matching, without CUDA types. Problems in either space; without a device they
/// throw ResourceShortage. They fill row_to_col (and col_to_row of bipartite graphs) and the stats; of
/// problems in device memory the objective too (weight.h says in which order weights are summed).

#include <span>

#include "matching/greedy/coarsen.h"
#include "matching/greedy/proposal.h"

namespace motes::matching::device {

void greedy_suitor(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer);

void greedy_proposal(const Execution& execution, const GreedyProblem& problem, const ProposalOptions& options,
                     GreedyAnswer& answer);

CoarseGraph coarsen(const Execution& execution, const GreedyProblem& problem, std::span<const Index> mate,
                    std::span<const double> vertex_weight);

}  // namespace motes::matching::device
