#include "matching/assignment/core_search.cuh"

namespace motes::matching::device {
namespace hungarian {

void run_sparse_forests(Arena& arena, const DeviceCanonical<SparseEntries>& p, const State& s,
                        detail::Solution& out);

namespace {

/// Prices of free columns go back to their start unless `perfect`; none stays above it.
__global__ void repair_cols_kernel(DeviceCanonical<SparseEntries> p, State s) {
  for (Index j = thread_index(); j < p.cols; j += thread_total())
    if (!p.perfect && (s.col_to_row[j] == -1 || s.v[j] > p.start[j])) s.v[j] = p.start[j];
}

/// u_i = min(exit_i, min_j c_ij - v_j), a warp per row; drops pairs that are not tight.
__global__ void repair_rows_kernel(DeviceCanonical<SparseEntries> p, State s, int* dropped, int* hopeless) {
  const int lane = threadIdx.x % kWarp;
  for (Index i = thread_index() / kWarp; i < p.rows; i += thread_total() / kWarp) {
    const Index mate = s.row_to_col[i];
    Cost best = kInfiniteCost, mine = kInfiniteCost;
    p.entries.for_each(i, lane, kWarp, [&](Index j, Cost c) {
      const Cost offer = c - s.v[j];
      best = min(best, offer);
      if (j == mate) mine = min(mine, offer);
    });
    best = min(warp_min(best), p.exit_of(i));
    mine = warp_min(mine);
    if (lane != 0) continue;
    s.u[i] = best;
    if (best == kInfiniteCost) *hopeless = 1;  // all write the same
    if (mate == -1 || mine == best) continue;
    s.row_to_col[i] = s.col_to_row[mate] = -1;
    *dropped = 1;
  }
}

}  // namespace
}  // namespace hungarian

bool search_core(Arena& arena, const DeviceCanonical<SparseEntries>& given, const hungarian::State& s,
                 Stats& stats) {
  namespace h = hungarian;
  const auto began = std::chrono::steady_clock::now();
  DeviceCanonical<SparseEntries> p = given;
  if (p.perfect) p.row_exit = nullptr;
  if (p.cols == 0 && p.rows == 0) return true;
  const int blocks = 8 * arena.multiprocessors();
  int* flags = arena.take<int>(2);  // dropped, hopeless
  for (int again = 1; again != 0;) {
    MOTES_CUDA(cudaMemsetAsync(flags, 0, 2 * sizeof(int), arena.stream()));
    h::repair_cols_kernel<<<blocks, h::kThreads, 0, arena.stream()>>>(p, s);
    MOTES_CUDA_LAUNCHED();
    h::repair_rows_kernel<<<blocks, h::kThreads, 0, arena.stream()>>>(p, s, flags, flags + 1);
    MOTES_CUDA_LAUNCHED();
    const std::vector<int> found = arena.download(flags, 2);
    if (found[1] != 0) return false;
    again = found[0] != 0 && !p.perfect;
  }
  stats.seconds["initial_reduction"] += detail::seconds_since(began);
  if (p.rows == 0) return true;
  detail::Solution out;
  h::run_sparse_forests(arena, p, s, out);
  stats.phases += out.stats.phases;
  stats.rounds += out.stats.rounds;
  stats.augmentations += out.stats.augmentations;
  stats.assignments.insert(stats.assignments.end(), out.stats.assignments.begin(),
                           out.stats.assignments.end());
  for (const auto& [stage, seconds] : out.stats.seconds) stats.seconds[stage] += seconds;
  return !out.infeasible;
}

}  // namespace motes::matching::device
