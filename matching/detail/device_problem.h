#pragma once
/// The device forms of what every kind of problem needs; without CUDA they throw ResourceShortage.

#include "matching/problem.h"
#include "matching/solver.h"
#include "matching/verify.h"

namespace motes::matching::detail {

/// check_problem for views in device memory.
void check_device_problem(const CostsView& problem);

/// verify on the device; host views are copied there first.
Certificate verify_on_device(const Execution& execution, const CostsView& problem, const Matching& matching);

}  // namespace motes::matching::detail
