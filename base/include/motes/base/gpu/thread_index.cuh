#pragma once
/// Which thread of a one-dimensional launch this is. `Int` must hold the number of the grid's threads.

namespace motes::gpu {

/// Number of this thread within its grid.
template <class Int = int>
__device__ Int thread_index() {
  return static_cast<Int>(blockIdx.x) * static_cast<Int>(blockDim.x) + static_cast<Int>(threadIdx.x);
}
/// How many threads the grid has.
template <class Int = int>
__device__ Int thread_total() {
  return static_cast<Int>(gridDim.x) * static_cast<Int>(blockDim.x);
}

}  // namespace motes::gpu
