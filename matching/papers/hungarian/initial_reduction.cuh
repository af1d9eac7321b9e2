#pragma once
/// Initial reduction and initial assignment of the Hungarian solvers on the GPU: initial_reduction.h's rules,
/// element for element.

#include <cooperative_groups.h>

#include <motes/base/timer.h>

#include "matching/assignment/canonical/device_state.cuh"
#include "matching/assignment/canonical/search_rules.h"
#include "matching/papers/hungarian/row_pairs.h"

namespace motes::matching::device {

namespace hungarian {

using namespace search;

/// u_i = min(exit_i, min_j c_ij - v_j); a warp per row. Also drops the pair of a row that could do better,
/// counting in *dropped.
template <class Entries>
__global__ void reduce_rows_kernel(DeviceCanonical<Entries> p, State s, int* dropped, int* hopeless) {
  const int lane = threadIdx.x % kWarp;
  for (Index i = thread_index() / kWarp; i < p.rows; i += thread_total() / kWarp) {
    const Index mate = s.row_to_col[i];
    Cost best = kInfiniteCost;
    p.entries.for_each(i, lane, kWarp, [&](Index j, Cost c) { best = min(best, c - s.v[j]); });
    best = min(warp_min(best), p.exit_of(i));
    if (lane != 0) continue;
    s.u[i] = best;
    if (best == kInfiniteCost) *hopeless = 1;  // all write the same
    if (mate == -1) continue;
    const Cost c = p.entries.at(i, mate);
    if (c != kInfiniteCost && c - s.v[mate] == best) continue;
    s.row_to_col[i] = s.col_to_row[mate] = -1;
    *dropped = 1;
  }
}

/// v_j = min_i c_ij - u_i, into v that was filled with kInfiniteCost. Dense and geometric: a thread owns a
/// column within a band of rows.
template <class Entries>
__global__ void reduce_cols_kernel(DeviceCanonical<Entries> p, State s, Index band) {
  const Index j = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  const Index begin = static_cast<Index>(blockIdx.y) * band, end = min(p.rows, begin + band);
  if (j >= p.cols) return;
  Cost best = kInfiniteCost;
#pragma unroll 8
  for (Index i = begin; i < end; ++i) {
    const Cost c = p.entries.at(i, j);
    if (c != kInfiniteCost) best = min(best, c - s.u[i]);
  }
  if (best != kInfiniteCost) atomic_min(s.v + j, best);
}
/// Sparse: a warp per row.
template <class Entries>
__global__ void scatter_cols_kernel(DeviceCanonical<Entries> p, State s) {
  const int lane = threadIdx.x % kWarp;
  for (Index i = thread_index() / kWarp; i < p.rows; i += thread_total() / kWarp)
    p.entries.for_each(i, lane, kWarp, [&](Index j, Cost c) { atomic_min(s.v + j, c - s.u[i]); });
}

/// Everything the greedy pass keeps. Lists alternate between rounds; counters take turns so that the one
/// being cleared is neither read nor added to.
struct Greedy {
  Index* asking[2];  ///< [rows] rows without a column
  Index* wish;       ///< [rows] the column asked for, -1: none left
  unsigned* best;    ///< [cols] least rank of the rows that ask, kNoRank: none
  int* count;        ///< [3] length of the list of round r at r % 3
};

/// One cooperative kernel: propose, barrier, settle, barrier, until no row asks.
template <class Entries>
__global__ void __launch_bounds__(kThreads) greedy_kernel(DeviceCanonical<Entries> p, State s, Greedy g) {
  const auto grid = cooperative_groups::this_grid();
  const int lane = threadIdx.x % kWarp;
  for (Index i = thread_index(); i < p.rows; i += thread_total())
    if (s.row_to_col[i] == -1 && s.u[i] != p.exit_of(i)) g.asking[0][atomicAdd(g.count, 1)] = i;
  grid.sync();
  for (int round = 0;; ++round) {
    const Index* asking = g.asking[round % 2];
    Index* rest = g.asking[(round + 1) % 2];
    const int count = g.count[round % 3];
    if (count == 0) return;
    if (thread_index() == 0) g.count[(round + 1) % 3] = 0;
    for (int k = thread_index() / kWarp; k < count; k += thread_total() / kWarp) {
      const Index i = asking[k], length = detail::length_of(p.entries, i);
      const Cost u = s.u[i];
      const Index place =
          length == 0 ? 0 : static_cast<Index>(detail::scramble(i) % static_cast<unsigned>(length));
      Index wish = -1;
      for (Index first = 0; first < length && wish == -1; first += kGlances * kWarp) {
        detail::Edge edge[kGlances];
        Cost v[kGlances];
#pragma unroll
        for (int d = 0; d < kGlances; ++d) {
          long long at = static_cast<long long>(first) + d * kWarp + lane;
          edge[d] = {-1, kInfiniteCost};
          if (at >= length) continue;
          at += place;
          edge[d] = detail::edge_of(p.entries, i, static_cast<Index>(at < length ? at : at - length));
        }
#pragma unroll
        for (int d = 0; d < kGlances; ++d) v[d] = edge[d].col == -1 ? 0 : s.v[edge[d].col];
#pragma unroll
        for (int d = 0; d < kGlances; ++d) {
          const detail::Edge& e = edge[d];
          const bool zero = e.cost != kInfiniteCost && e.cost - u == v[d] && s.col_to_row[e.col] == -1;
          const unsigned found = __ballot_sync(kAll, zero);
          if (found != 0 && wish == -1) wish = __shfl_sync(kAll, e.col, __ffs(static_cast<int>(found)) - 1);
        }
      }
      if (lane != 0) continue;
      g.wish[i] = wish;
      if (wish != -1) atomicMin(g.best + wish, detail::rank_of(i, detail::scramble(wish)));
    }
    grid.sync();
    for (int k = thread_index(); k < count; k += thread_total()) {
      const Index i = asking[k], j = g.wish[i];
      if (j == -1) continue;
      if (g.best[j] == detail::rank_of(i, detail::scramble(j))) {
        s.row_to_col[i] = j;
        s.col_to_row[j] = i;
      } else {
        rest[atomicAdd(g.count + (round + 1) % 3, 1)] = i;
      }
    }
    grid.sync();
  }
}

struct Begun {
  State state;
  bool feasible = true;
};

template <class Entries>
void reduce_columns(gpu::Arena& arena, const DeviceCanonical<Entries>& p, const State& s) {
  const int blocks = 8 * arena.multiprocessors();
  fill_costs_kernel<<<blocks, kThreads, 0, arena.stream()>>>(s.v, p.cols, kInfiniteCost);
  MOTES_CUDA_LAUNCHED();
  if constexpr (std::is_same_v<Entries, SparseEntries>) {
    scatter_cols_kernel<<<blocks, kThreads, 0, arena.stream()>>>(p, s);
  } else {
    const int wide = (p.cols + kThreads - 1) / kThreads;
    const int bands = std::clamp(4 * blocks / wide, 1, 65535);
    const Index band = std::max<Index>(8, (p.rows + bands - 1) / bands);
    const dim3 grid(static_cast<unsigned>(wide), static_cast<unsigned>((p.rows + band - 1) / band));
    reduce_cols_kernel<<<grid, kThreads, 0, arena.stream()>>>(p, s, band);
  }
  MOTES_CUDA_LAUNCHED();
}

/// Initial reduction and assignment.
template <class Entries>
Begun begin(gpu::Arena& arena, const CanonicalSides& sides, const DeviceCanonical<Entries>& p,
            const Start& given, Stats& stats) {
  auto clock = std::chrono::steady_clock::now();
  const bool warm = !given.row_to_col.empty() || !given.u.empty() || !given.v.empty();
  const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
  Begun out{initial_state(arena, sides, p, given), true};
  const State& s = out.state;
  const int blocks = 8 * arena.multiprocessors();
  if (rows == 0) {
    if (cols > 0) reset_free_kernel<<<blocks, kThreads, 0, arena.stream()>>>(s, p.start, p.cols);
    MOTES_CUDA_LAUNCHED();
    return out;
  }
  int* flags = arena.take<int>(2);  // dropped, hopeless
  for (int dropped = 1; dropped != 0;) {
    MOTES_CUDA(cudaMemsetAsync(flags, 0, 2 * sizeof(int), arena.stream()));
    if (!p.perfect && cols > 0) {
      reset_free_kernel<<<blocks, kThreads, 0, arena.stream()>>>(s, p.start, p.cols);
      MOTES_CUDA_LAUNCHED();
    }
    reduce_rows_kernel<<<blocks, kThreads, 0, arena.stream()>>>(p, s, flags, flags + 1);
    MOTES_CUDA_LAUNCHED();
    const std::vector<int> found = arena.download(flags, 2);
    dropped = p.perfect ? 0 : found[0];
    out.feasible = found[1] == 0;
  }
  if (!out.feasible) return out;
  if (p.perfect && !warm) {
    reduce_columns(arena, p, s);
    check_cols_kernel<<<blocks, kThreads, 0, arena.stream()>>>(s.v, p.cols, flags + 1);
    MOTES_CUDA_LAUNCHED();
    out.feasible = arena.download(flags, 2)[1] == 0;
  }
  stats.seconds["initial_reduction"] = seconds_since(clock);
  if (!out.feasible) return out;
  clock = std::chrono::steady_clock::now();
  Greedy greedy{{arena.take<Index>(rows), arena.take<Index>(rows)},
                arena.take<Index>(rows),
                arena.take_filled<unsigned>(cols, 0xff),
                arena.take_filled<int>(3, 0)};
  auto kernel = greedy_kernel<Entries>;
  void* arguments[] = {const_cast<DeviceCanonical<Entries>*>(&p), const_cast<State*>(&s), &greedy};
  MOTES_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                         cooperative_blocks(arena, kernel, kThreads, 4), kThreads, arguments,
                                         0, arena.stream()));
  for (const Index j : arena.download(s.row_to_col, rows)) stats.initial_assignments += j != -1;
  stats.seconds["initial_assignment"] = seconds_since(clock);
  return out;
}

}  // namespace hungarian
}  // namespace motes::matching::device
