#pragma once
/// Solves any assignment problem with all work on arrays of size n on the device: sides, starting prices,
/// u, the objectives, the partners of the other side. On the host, these steps take longer than a solve of a
/// few milliseconds.

#include <motes/base/timer.h>

#include "matching/assignment/answer_memory.h"
#include "matching/assignment/canonical/canonical_form.cuh"
#include "matching/assignment/canonical/sides.h"

namespace motes::matching::device {

/// detail::Solution with its arrays in device memory.
struct DeviceSolution {
  const Index* row_to_col = nullptr;  ///< [rows]
  const Cost* v = nullptr;            ///< [cols]
  bool infeasible = false;
  Stats stats;
};

/// A problem's unmatched costs on the device; nullptr: all infinite.
struct DeviceUnmatched {
  const Cost *row = nullptr, *col = nullptr;
};
/// The unmatched costs of a view in either space; host arrays are copied through the arena.
DeviceUnmatched unmatched_on_device(gpu::Arena& arena, const CostsView& problem);
detail::UnmatchedFacts facts_of(gpu::Arena& arena, const CostsView& problem,
                                const DeviceUnmatched& unmatched);

/// start[j] of the canonical form: the cost, or `must_price` if it is infinite.
const Cost* starting_prices(gpu::Arena& arena, const Cost* unmatched, Index cols, Cost must_price);

/// Sums of 64-bit numbers that may overflow 64 bits: separate sums of the low and the high halves.
struct WideSum {
  unsigned long long low;
  unsigned long long high;  ///< of signed halves
};
struct Totals {
  WideSum primal, dual;
  unsigned long long cardinality;
  int infeasible;
};

/// An answer in device memory, in the orientation of the canonical form.
struct DeviceAnswer {
  const Index *row_to_col, *col_to_row;  ///< [rows], [cols]
  const Cost *u, *v;                     ///< [rows], [cols]
  const Totals* totals;
};

/// The answer of a canonical solution. matched_cost [rows]: costs of the matched pairs; row_exit [rows] and
/// col_cost [cols]: unmatched costs of the canonical form's rows and columns, nullptr if all are infinite.
/// Does not wait for the stream.
DeviceAnswer finish_on_device(gpu::Arena& arena, const CanonicalSides& sides, const DeviceSolution& solution,
                              const Cost* matched_cost, const Cost* row_exit, const Cost* col_cost);

/// The whole answer on the host. Waits for the stream once.
Matching bring_answer(gpu::Arena& arena, const CanonicalSides& sides, DeviceSolution&& solution,
                      const DeviceAnswer& answer, detail::ResultRoom& room);

/// The same without pairs and duals: status, objectives and cardinality.
Matching bring_totals(gpu::Arena& arena, DeviceSolution&& solution, const DeviceAnswer& answer);

/// The same pairs by column, with ascending columns (the former rows).
SparseEntries transposed(gpu::Arena& arena, const SparseEntries& entries, Offset edges);

/// Copies a solution to the device, for solvers that end on the host.
DeviceSolution on_device(gpu::Arena& arena, detail::Solution&& solution);

/// Solves a problem in either space: copies host arrays to the device, exchanges sides if the canonical form
/// requires it, calls solve(arena, sides, canonical) -> DeviceSolution, and take(arena, sides, solution,
/// answer) -> Matching for the part of the answer that the host needs. The arrays of `sides` are empty: they
/// are in `canonical`. `seconds` of the stats gain "transfer" (to the device) and "finish" (until the answer
/// is on the host).
template <class Solve, class Take>
Matching solve_on_device(const Execution& execution, const CostsView& problem, Solve&& solve, Take&& take) {
  Workspace own;
  gpu::Arena& arena = (execution.workspace != nullptr ? *execution.workspace : own).arena(execution.device);
  arena.reset();
  const auto began = std::chrono::steady_clock::now();
  const DeviceUnmatched unmatched = unmatched_on_device(arena, problem);
  const detail::UnmatchedFacts facts = facts_of(arena, problem, unmatched);

  const Cost* row_least = nullptr;
  const auto run = [&](const auto& entries, CanonicalSides& sides, Cost must_price) {
    using Entries = std::decay_t<decltype(entries)>;
    const Cost* exits = sides.exchanged ? unmatched.col : unmatched.row;
    const Cost* col_cost = sides.exchanged ? unmatched.row : unmatched.col;
    const DeviceCanonical<Entries> canonical{
        sides.rows,    sides.cols, entries, exits, starting_prices(arena, col_cost, sides.cols, must_price),
        sides.perfect, row_least};
    arena.synchronize();
    const double transfer_s = seconds_since(began);
    DeviceSolution solution = solve(arena, sides, canonical);
    const auto solved = std::chrono::steady_clock::now();
    Cost* cost = arena.take<Cost>(static_cast<std::size_t>(sides.rows));
    if (sides.rows > 0) {
      matched_cost_kernel<<<4 * arena.multiprocessors(), 256, 0, arena.stream()>>>(entries,
                                                                                   solution.row_to_col, cost);
      MOTES_CUDA_LAUNCHED();
    }
    const DeviceAnswer answer = finish_on_device(arena, sides, solution, cost, exits, col_cost);
    Matching out = take(arena, sides, std::move(solution), answer);
    out.stats.seconds["transfer"] = transfer_s;
    out.stats.seconds["finish"] = seconds_since(solved);
    return out;
  };
  const auto* sparse = std::get_if<SparseCostsView>(&problem);
  const Offset edges = sparse != nullptr ? sparse->graph.edges() : 0;
  return detail::with_entries(problem, [&](const auto& host_entries) {
    using Entries = std::decay_t<decltype(host_entries)>;
    const auto entries = to_device(arena, host_entries, space_of(problem), edges);
    Cost must_price = 0;
    const Survey survey = survey_entries(arena, entries);
    // Matrices in device memory are not checked before (check_problem): the survey finds every fault.
    if (space_of(problem) == Space::device && std::holds_alternative<DenseCostsView>(problem) &&
        (survey.largest < 0 || survey.largest > detail::largest_allowed(problem)))
      detail::check_device_problem(nullptr, execution.device, problem);
    CanonicalSides sides = detail::make_bare_sides(rows_of(problem), cols_of(problem), facts,
                                                   std::max(survey.largest, facts.largest), must_price);
    row_least = sides.exchanged ? nullptr : survey.row_least;
    if (!sides.exchanged) return run(entries, sides, must_price);
    if constexpr (std::is_same_v<Entries, SparseEntries>)
      return run(transposed(arena, entries, edges), sides, must_price);
    else if constexpr (std::is_same_v<Entries, GeometricEntries>)
      return run(detail::exchanged(entries), sides, must_price);
    else
      return run(transposed(arena, entries), sides, must_price);
  });
}

/// As above, with the whole answer on the host.
template <class Solve>
Matching solve_on_device(const Execution& execution, const CostsView& problem, Solve&& solve) {
  detail::ResultRoom room(rows_of(problem), cols_of(problem), thread_count(execution));
  return solve_on_device(execution, problem, std::forward<Solve>(solve),
                         [&](gpu::Arena& arena, const CanonicalSides& sides, DeviceSolution&& solution,
                             const DeviceAnswer& answer) {
                           return bring_answer(arena, sides, std::move(solution), answer, room);
                         });
}

}  // namespace motes::matching::device
