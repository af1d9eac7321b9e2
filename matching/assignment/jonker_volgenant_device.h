#pragma once
/// The CUDA form of `jv`, without CUDA types. Throws ResourceShortage without a device.

#include "matching/solver.h"

namespace motes::matching::device {

/// Pairs a row that the first core of a matrix has, about.
inline constexpr int kCorePairs = 48;

Matching solve_by_cores(const Execution& execution, const CostsView& problem, const Start& start,
                        int wanted = kCorePairs);

}  // namespace motes::matching::device
