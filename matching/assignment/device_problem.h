#pragma once
/// Device forms of the functions that every kind of problem needs. Without CUDA they throw ResourceError.

#include <span>
#include <vector>

#include <motes/base/gpu/device.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/problem.h>
#include <motes/matching/verify.h>

#include "matching/certificate.h"

namespace motes::matching::detail {

/// The largest legal magnitude of a finite entry.
inline Cost largest_allowed(const CostsView& problem) {
  if (std::holds_alternative<GeometricCostsView>(problem)) return kMaxGridCost;
  const auto* dense = std::get_if<DenseCostsView>(&problem);
  return dense != nullptr && dense->data.index() >= 2 ? kMaxGridCost : kMaxCost;
}

/// The entries' part of check_problem for views in device memory, in the workspace's memory if there is one.
void check_device_problem(Workspace* workspace, int device, const CostsView& problem);

/// check_problem (problem.h) with the execution's threads, device and memory.
void check_problem_with(const Execution& execution, const CostsView& problem);

/// The pass of verify over all pairs, on the device; host views are copied there first. Of the matching it
/// reads row_to_col and the duals.
EdgeFindings find_faults_on_device(const Execution& execution, const CostsView& problem,
                                   const Matching& matching);
/// verify on the device.
Certificate verify_on_device(const Execution& execution, const CostsView& problem, const Matching& matching);

/// Alternatives of other optimal matchings to this one, as far as they can be part of an exchange.
struct Alternatives {
  /// A row that may lie on a cycle of exchanges (ties.cpp).
  struct Contender {
    Index row = -1;
    bool may_stay_free = false;
    bool col_may_stay_free = false;  ///< its matched column; false if it has none
  };
  std::vector<Contender> rows;  ///< ascending
  /// Tight pairs that are not matched, sorted by row and column, of contenders with columns that are free or
  /// that contenders have.
  std::vector<Pair> pairs;
  bool consistent = true;  ///< everything that the matching uses, pairs and free vertices, is tight itself
};
/// The alternatives for a problem in device memory; the matching must have its numbers of rows, columns and
/// duals. O(size of the problem).
Alternatives alternatives_on_device(const Execution& execution, const CostsView& problem,
                                    const Matching& matching);

/// Makes `optimal`, whose alternatives these are, the optimum that resolve_ties (ties.h) chooses: row_to_col,
/// cardinality, and col_to_row if it is present. Throws as resolve_ties does if they are inconsistent.
void choose_least(const Execution& execution, Index rows, Index cols, const Alternatives& alternatives,
                  Matching& optimal);

}  // namespace motes::matching::detail
