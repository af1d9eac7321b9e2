#pragma once
/// The device forms of what every kind of problem needs; without CUDA they throw ResourceShortage.

#include <span>
#include <vector>

#include "matching/detail/judge.h"
#include "matching/device/device.h"
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

/// check_problem (problem.h) with the execution's threads, device and memory.
void check_problem_with(const Execution& execution, const CostsView& problem);

/// verify on the device; host views are copied there first.
Certificate verify_on_device(const Execution& execution, const CostsView& problem, const Matching& matching);

/// What optimal matchings may use instead of what this one does, as far as it could be part of an exchange.
struct Alternatives {
  /// A row that may lie on a cycle of exchanges (ties.cpp).
  struct Contender {
    Index row = -1;
    bool may_stay_free = false;
    bool col_may_stay_free = false;  ///< the column that it has; false where it has none
  };
  std::vector<Contender> rows;  ///< ascending
  /// Tight, but not matched, by row and column: of contenders, to columns that are free or that contenders
  /// have.
  std::vector<Pair> pairs;
  bool consistent = true;  ///< everything that the matching uses, pairs and free vertices, is tight itself
};
/// Of a problem in device memory; the matching has as many rows, columns and duals as it. O(size of the
/// problem).
Alternatives alternatives_on_device(const Execution& execution, const CostsView& problem,
                                    const Matching& matching);

/// Problems in device memory, all with or all without unmatched costs of a side, as one whose blocks they
/// are.
class DeviceStack {
 public:
  /// Lengths must agree with rows, columns and edges; nothing else is trusted.
  DeviceStack(std::span<const SparseCostsView> blocks, int device);
  /// Valid as long as this lives.
  const SparseCostsView& view() const { return view_; }
  /// No block reaches into another's columns or edges; else the stack must not be solved.
  bool sound() const { return sound_; }

 private:
  bool sound_ = false;
  DeviceArray<Offset> offsets_;
  DeviceArray<Index> col_index_;
  DeviceArray<Cost> cost_, row_cost_, col_cost_;
  SparseCostsView view_;
};

}  // namespace motes::matching::detail
