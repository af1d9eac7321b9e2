#pragma once
/// The index of a thread in a one-dimensional launch. `Int` must represent the number of the grid's threads.

namespace motes::gpu {

/// The index of this thread in its grid.
template <class Int = int>
__device__ Int thread_index() {
  return static_cast<Int>(blockIdx.x) * static_cast<Int>(blockDim.x) + static_cast<Int>(threadIdx.x);
}
/// The number of threads of the grid.
template <class Int = int>
__device__ Int thread_total() {
  return static_cast<Int>(gridDim.x) * static_cast<Int>(blockDim.x);
}

}  // namespace motes::gpu
