/// `jv` on the CPU: chooses between the sparse, the dense and the core solver.

#include "matching/assignment/jonker_volgenant.h"

#include <cmath>

#include <motes/base/timer.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/core/core_solver.h"
#include "matching/assignment/core/point_order.h"
#include "matching/assignment/dense/dense_augmenting_paths.h"
#include "matching/assignment/jonker_volgenant_device.h"
#include "matching/assignment/sparse/sparse_augmenting_paths.h"

namespace motes::matching {
namespace {

/// From this many columns on, a core is small compared with the matrix.
constexpr Index kCoreCols = 512;

/// Solved on a core: a matrix that is then read only once, by the selection, or sets of points.
bool takes_core(const CostsView& problem, const detail::CanonicalSides& sides) {
  return sides.rows > 0 && sides.cols >= kCoreCols && !std::holds_alternative<SparseCostsView>(problem);
}

/// The largest cost, from the selection's pass over the matrix. Throws as check_entries.
template <class T>
Cost seen_largest(const Execution& execution, const CostsView& problem,
                  const detail::DenseEntries<T>& entries, const detail::CoreSelection& selection) {
  if constexpr (!std::is_floating_point_v<T>) return detail::largest_cost(problem, thread_count(execution));
  if (selection.bad || selection.largest * entries.scale > static_cast<double>(kMaxGridCost))
    check_entries(std::get<DenseCostsView>(problem), thread_count(execution));
  return std::max(detail::largest_unmatched_cost(problem),
                  detail::grid_value(selection.largest, entries.scale));
}

template <class Entries>
detail::Solution solve_core(const Execution& execution, const detail::Canonical<Entries>& canonical,
                            const Start& start, detail::CoreSelection&& selection, double selection_s) {
  auto solution = detail::solve_by_core_paths(execution, canonical, start, std::move(selection));
  solution.stats.seconds["selection"] = selection_s;
  return solution;
}

/// A matrix: its largest cost is known only when the selection has read it.
template <class Entries>
Matching solve_on_core(const Execution& execution, const CostsView& problem, const Start& start,
                       const Entries& entries) {
  const auto begun = std::chrono::steady_clock::now();
  const auto size = detail::core_size<Entries>(detail::orient_sides(problem));
  auto selection = detail::select_core(execution, entries, size.of_rows, size.of_columns);
  const double selection_s = seconds_since(begun);
  const Cost largest = seen_largest(execution, problem, entries, selection);
  const detail::Canonical<Entries> canonical{detail::make_sides(problem, largest), entries};
  return detail::finish(problem, canonical,
                        solve_core(execution, canonical, start, std::move(selection), selection_s));
}

Matching solve_on_core(const Execution& execution, const CostsView& problem, const Start& start,
                       const detail::GeometricEntries& entries) {
  const auto begun = std::chrono::steady_clock::now();
  const Cost largest = detail::largest_cost(problem, thread_count(execution));
  const detail::Canonical<detail::GeometricEntries> canonical{detail::make_sides(problem, largest), entries};
  const detail::OrderedPoints ordered(canonical, start);
  const auto size = detail::core_size<detail::GeometricEntries>(canonical);
  auto selection = detail::select_core(execution, ordered.problem().entries, size.of_rows, size.of_columns);
  const double selection_s = seconds_since(begun);
  return detail::finish(problem, canonical,
                        ordered.restored(solve_core(execution, ordered.problem(), ordered.start(),
                                                    std::move(selection), selection_s)));
}

}  // namespace

bool JonkerVolgenant::checks_entries(const Execution& execution, const CostsView& problem) const {
  const auto* dense = std::get_if<DenseCostsView>(&problem);
  const bool real = dense != nullptr && dense->data.index() >= 2 && dense->space == Space::host;
  return real && execution.backend != Backend::cuda && takes_core(problem, detail::orient_sides(problem));
}

Matching JonkerVolgenant::run(const Execution& execution, const CostsView& problem,
                              const Start& start) const {
  if (execution.backend == Backend::cuda) return device::solve_by_cores(execution, problem, start);
  detail::require_cpu(execution, problem, "jv");
  const auto sides = detail::orient_sides(problem);
  if (takes_core(problem, sides)) {
    return detail::with_entries(problem, [&](const auto& entries) {
      if constexpr (std::is_same_v<std::decay_t<decltype(entries)>, detail::SparseEntries>)
        return Matching{};  // needs no core
      else
        return solve_on_core(execution, problem, start,
                             sides.exchanged ? detail::exchanged(entries) : entries);
    });
  }
  return detail::solve_canonical(execution, problem,
                                 [&]<class Entries>(const detail::Canonical<Entries>& canonical) {
                                   if constexpr (std::is_same_v<Entries, detail::SparseEntries>)
                                     return detail::solve_by_sparse_paths(execution, canonical, start);
                                   else
                                     return detail::solve_by_dense_paths(canonical, start);
                                 });
}

Matching JonkerVolgenant::run_for_partners(const Execution& execution, const CostsView& problem) const {
  const bool there = execution.backend == Backend::cuda && space_of(problem) == Space::device;
  return there && std::holds_alternative<SparseCostsView>(problem)
             ? device::partners_by_sparse_paths(execution, problem)
             : AssignmentSolver::run_for_partners(execution, problem);
}

}  // namespace motes::matching
