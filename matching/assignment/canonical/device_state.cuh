#pragma once
/// The state that assignment solvers on the GPU work on, and what every kernel of theirs needs.

#include <cooperative_groups.h>

#include "matching/assignment/canonical/canonical_form.cuh"

namespace motes::matching::device::search {

constexpr int kThreads = 256;  ///< of the plain kernels here
constexpr int kWarp = 32;
constexpr int kGlances = 8;  ///< pairs a lane looks at side by side in the greedy pass
constexpr unsigned kAll = 0xffffffffU;

__device__ inline int thread_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int thread_total() { return static_cast<int>(gridDim.x * blockDim.x); }
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
/// Prices of free columns go back to their start (warm starts of problems that are not perfect).
[[maybe_unused]] static __global__ void reset_free_kernel(State s, const Cost* start, Index cols) {
  for (Index j = thread_index(); j < cols; j += thread_total())
    if (s.col_to_row[j] == -1) s.v[j] = start[j];
}

}  // namespace motes::matching::device::search
