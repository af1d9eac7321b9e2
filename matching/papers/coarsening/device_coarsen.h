#pragma once
/// The CUDA forms of graph coarsening, without CUDA types. They accept problems in either memory space, and
/// throw ResourceError without a device.

#include <span>
#include <vector>

#include <motes/matching/coarsen.h>

namespace motes::matching::device {

CoarseGraph coarsen(const Execution& execution, const GreedyProblem& problem, std::span<const Index> mate,
                    std::span<const double> vertex_weight);

/// coarsen_to() of a checked general graph. With `sizes`, as coarsest_of(): fills them, and returns only the
/// last level, whose coarse_of maps the vertices of the problem.
std::vector<CoarseGraph> coarsen_to(const Execution& execution, const GreedyProblem& problem,
                                    const GreedySolver& solver, const CoarsenSettings& settings,
                                    std::vector<CoarseSize>* sizes);

}  // namespace motes::matching::device
