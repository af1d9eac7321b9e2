#pragma once
/// The device forms of what every kind of problem needs; without CUDA they throw ResourceShortage.

#include "matching/problem.h"
#include "matching/solver.h"
#include "matching/verify.h"

namespace motes::matching::detail {

/// What no finite cost of an entry may pass in magnitude.
inline Cost largest_allowed(const CostsView& problem) {
  if (std::holds_alternative<GeometricCostsView>(problem)) return kMaxGridCost;
  const auto* dense = std::get_if<DenseCostsView>(&problem);
  return dense != nullptr && dense->data.index() >= 2 ? kMaxGridCost : kMaxCost;
}

/// The entries' part of check_problem for views in device memory, in the workspace's memory if there is one.
void check_device_problem(Workspace* workspace, int device, const CostsView& problem);

/// check_problem (problem.h) with a device and memory to use for views that lie on it; `workspace` may be
/// nullptr.
void check_problem_with(Workspace* workspace, int device, const CostsView& problem);

/// verify on the device; host views are copied there first.
Certificate verify_on_device(const Execution& execution, const CostsView& problem, const Matching& matching);

}  // namespace motes::matching::detail
