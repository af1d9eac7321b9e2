#pragma once
/// The CUDA form of `jv`, without CUDA types. Throws ResourceShortage without a device.

#include "matching/solver.h"

namespace motes::matching::device {

Matching solve_by_cores(const Execution& execution, const CostsView& problem, const Start& start);

}  // namespace motes::matching::device
