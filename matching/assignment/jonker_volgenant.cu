/// `jv` on the GPU, for each kind of costs. A sparse problem is its own core.

#include "matching/assignment/canonical/device_solve.cuh"
#include "matching/assignment/core/dense_core.cuh"
#include "matching/assignment/core/point_core.cuh"
#include "matching/assignment/device_ties.cuh"
#include "matching/assignment/jonker_volgenant_device.h"
#include "matching/assignment/sparse/sparse_augmenting_paths.cuh"

namespace motes::matching::device {
namespace {

DeviceSolution in_place(core::Outcome&& found) {
  return {found.state.row_to_col, found.state.v, false, std::move(found.stats)};
}

DeviceSolution solve(gpu::Arena& arena, const CanonicalSides& sides, DeviceCanonical<SparseEntries> p,
                     const Start& start, int, const SearchSettings& settings) {
  core::Outcome out;
  if (!p.perfect) {
    Cost* exits = arena.take<Cost>(static_cast<std::size_t>(p.rows));
    if (p.rows > 0) {
      core::finite_exits_kernel<<<4 * arena.multiprocessors(), search::kThreads, 0, arena.stream()>>>(
          p.row_exit, p.rows, exits);
      MOTES_CUDA_LAUNCHED();
    }
    p.row_exit = exits;
  }
  out.state = search::initial_state(arena, sides, p, start);
  DeviceSolution solution;
  const bool infeasible = !sparse_augmenting_paths(arena, p, out.state, out.stats, settings);
  solution = in_place(std::move(out));
  solution.infeasible = infeasible;  // the finishing solver finds the rows that left at the expensive exit
  return solution;
}

DeviceSolution solve(gpu::Arena& arena, const CanonicalSides& sides,
                     const DeviceCanonical<GeometricEntries>& p, const Start& start, int,
                     const SearchSettings&) {
  core::Outcome out = solve_by_point_cores(arena, sides, p, start);
  return out.whole ? on_device(arena, std::move(*out.whole)) : in_place(std::move(out));
}

template <class T>
DeviceSolution solve(gpu::Arena& arena, const CanonicalSides& sides,
                     const DeviceCanonical<DenseEntries<T>>& p, const Start& start, int wanted,
                     const SearchSettings&) {
  return on_device(arena, core::solve_dense(arena, sides, p, start, wanted));
}

/// Through pinned memory, so that each page of the result is touched once.
std::vector<Index> partners_from(gpu::Arena& arena, const Index* from, std::size_t count) {
  if (count == 0) return {};
  auto* staged = reinterpret_cast<Index*>(arena.staging(count * sizeof(Index)));
  MOTES_CUDA(cudaMemcpyAsync(staged, from, count * sizeof(Index), cudaMemcpyDeviceToHost, arena.stream()));
  arena.synchronize();
  return {staged, staged + count};
}

}  // namespace

Matching solve_by_cores(const Execution& execution, const CostsView& problem, const Start& start, int wanted,
                        const SearchSettings& settings) {
  return solve_on_device(execution, problem,
                         [&](gpu::Arena& arena, const CanonicalSides& sides, const auto& p) {
                           return solve(arena, sides, p, start, wanted, settings);
                         });
}

Matching partners_by_sparse_paths(const Execution& execution, const CostsView& problem) {
  const auto count = static_cast<std::size_t>(rows_of(problem));
  return solve_on_device(
      execution, problem,
      [&](gpu::Arena& arena, const CanonicalSides& sides, const auto& p) {
        if constexpr (std::is_same_v<std::decay_t<decltype(p)>, DeviceCanonical<SparseEntries>>)
          return solve(arena, sides, p, {}, kCorePairs, {});
        else
          return DeviceSolution{};  // only graphs come here
      },
      [&](gpu::Arena& arena, const CanonicalSides& sides, DeviceSolution&& solution,
          const DeviceAnswer& answer) {
        Matching out = bring_totals(arena, std::move(solution), answer);
        if (out.status != Status::optimal) return out;
        const auto start = std::chrono::steady_clock::now();
        const detail::DeviceOptimum optimum =
            sides.exchanged ? detail::DeviceOptimum{answer.col_to_row, answer.row_to_col, answer.v, answer.u}
                            : detail::DeviceOptimum{answer.row_to_col, answer.col_to_row, answer.u, answer.v};
        const detail::Alternatives alternatives = detail::alternatives_of(arena, problem, optimum);
        out.row_to_col = partners_from(arena, optimum.row_to_col, count);
        detail::choose_least(execution, rows_of(problem), cols_of(problem), alternatives, out);
        out.stats.seconds["ties"] = seconds_since(start);
        return out;
      });
}

}  // namespace motes::matching::device
