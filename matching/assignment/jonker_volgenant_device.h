#pragma once
/// The CUDA form of `jv`, without CUDA types. Throws ResourceShortage without a device.

#include "matching/assignment/core_settings.h"
#include "matching/solver.h"

namespace motes::matching::device {

/// Pairs a row that the first core of a matrix has, about.
inline constexpr int kCorePairs = 48;

/// `settings` are for graphs.
Matching solve_by_cores(const Execution& execution, const CostsView& problem, const Start& start,
                        int wanted = kCorePairs, const CoreSettings& settings = {});

}  // namespace motes::matching::device
