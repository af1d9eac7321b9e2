#pragma once
/// The state of an assignment solver on the GPU, used by all of its kernels.

#include <cooperative_groups.h>

#include <motes/base/gpu/thread_index.cuh>

#include "matching/assignment/canonical/canonical_form.cuh"
#include "matching/assignment/canonical/search_rules.h"

namespace motes::matching::device::search {

constexpr int kThreads = 256;  ///< of the plain kernels here
constexpr int kWarp = 32;
constexpr int kGlances = 8;  ///< pairs that a lane loads at once in the greedy pass
constexpr unsigned kAll = 0xffffffffU;

using gpu::thread_index;
using gpu::thread_total;
__device__ inline void atomic_min(Cost* p, Cost value) {
  atomicMin(reinterpret_cast<long long*>(p), static_cast<long long>(value));
}
/// The state of a solve, all in device memory.
struct State {
  Cost *u, *v;                     ///< [rows], [cols]
  Index *row_to_col, *col_to_row;  ///< -1: free
};

__device__ inline Cost warp_min(Cost value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value = min(value, __shfl_xor_sync(kAll, value, step));
  return value;
}

[[maybe_unused]] static __global__ void fill_costs_kernel(Cost* values, Index count, Cost value) {
  for (Index k = thread_index(); k < count; k += thread_total()) values[k] = value;
}
[[maybe_unused]] static __global__ void check_cols_kernel(const Cost* v, Index cols, int* hopeless) {
  for (Index j = thread_index(); j < cols; j += thread_total())
    if (v[j] == kInfiniteCost) *hopeless = 1;
}
/// Resets the prices of free columns to their start (warm starts of problems that are not perfect).
[[maybe_unused]] static __global__ void reset_free_kernel(State s, const Cost* start, Index cols) {
  for (Index j = thread_index(); j < cols; j += thread_total())
    if (s.col_to_row[j] == -1) s.v[j] = start[j];
}

/// The state before the reduction: no pairs and the starting prices, or the caller's start (in host memory
/// and in the problem's own orientation), as detail::make_start reads it.
template <class Entries>
State initial_state(gpu::Arena& arena, const CanonicalSides& sides, const DeviceCanonical<Entries>& p,
                    const Start& given) {
  const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
  const std::span<const Cost> wanted = sides.exchanged ? given.u : given.v;
  State s{arena.take<Cost>(rows), arena.take<Cost>(cols), nullptr, nullptr};
  if (given.row_to_col.empty() && wanted.empty()) {
    s.row_to_col = arena.take_filled<Index>(rows, 0xff);
    s.col_to_row = arena.take_filled<Index>(cols, 0xff);
    MOTES_CUDA(cudaMemcpyAsync(s.v, p.start, cols * sizeof(Cost), cudaMemcpyDeviceToDevice, arena.stream()));
    return s;
  }
  std::vector<Cost> v = arena.download(p.start, cols);
  constexpr Cost kLimit = Cost{1} << 60;
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    const Cost value = std::clamp(wanted[j], -kLimit, kLimit);
    if (sides.perfect || value < v[j]) v[j] = value;
  }
  std::vector<Index> row_to_col(rows, -1), col_to_row(cols, -1);
  for (std::size_t k = 0; k < given.row_to_col.size(); ++k) {
    const Index other = given.row_to_col[k];
    if (other == -1) continue;
    const std::size_t i = sides.exchanged ? static_cast<std::size_t>(other) : k;
    const std::size_t j = sides.exchanged ? k : static_cast<std::size_t>(other);
    row_to_col[i] = static_cast<Index>(j);
    col_to_row[j] = static_cast<Index>(i);
  }
  s.row_to_col = arena.upload(std::span<const Index>(row_to_col));
  s.col_to_row = arena.upload(std::span<const Index>(col_to_row));
  MOTES_CUDA(cudaMemcpyAsync(s.v, v.data(), cols * sizeof(Cost), cudaMemcpyHostToDevice, arena.stream()));
  arena.synchronize();  // the vectors above must outlive the copies
  return s;
}

/// Blocks of a cooperative launch: as many as fit, at most `per_multiprocessor` on each multiprocessor.
template <class Kernel>
int cooperative_blocks(const gpu::Arena& arena, Kernel kernel, int threads, int per_multiprocessor) {
  int fit = 0;
  MOTES_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, 0));
  return std::max(1, std::min(fit, per_multiprocessor)) * arena.multiprocessors();
}

}  // namespace motes::matching::device::search
