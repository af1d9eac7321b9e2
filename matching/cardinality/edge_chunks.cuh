#pragma once
/// Frontiers of searches in one cooperative kernel: lists of chunks of edges, collected block by block.
///
/// A row with many edges is split into several chunks, which different groups of lanes visit. A frontier
/// that is not large is distributed over the blocks, each of which follows its part alone in shared memory:
/// a barrier of a block costs a hundredth of one of the grid.

#include <motes/base/gpu/thread_index.cuh>

#include "matching/cardinality/two_sided_device_graph.cuh"

namespace motes::matching::device {

constexpr int kChunkEdges = 64;  ///< edges of a row that one group visits

/// Edges of one row, and the row's matched column.
struct alignas(16) EdgeChunk {
  unsigned long long edges;  ///< first << 8 | number of edges
  Index row, col;
  __device__ Offset begin() const { return static_cast<Offset>(edges >> 8); }
  __device__ int count() const { return static_cast<int>(edges & 0xff); }
};

/// The row from which a search reached a column, and that row's own column.
struct Origin {
  Index row, col;
};

/// The most chunks that one frontier can have.
inline std::size_t most_edge_chunks(Index rows, Offset edges) {
  return static_cast<std::size_t>(rows) + static_cast<std::size_t>(edges / kChunkEdges);
}

/// Passes the edges [begin, end) of a row to put(chunk), at most kChunkEdges at a time.
template <class Put>
__device__ void for_chunks(Index row, Index col, Offset begin, Offset end, Put&& put) {
  for (; begin < end; begin += kChunkEdges)
    put(EdgeChunk{static_cast<unsigned long long>(begin) << 8 |
                      static_cast<unsigned long long>(min(Offset{kChunkEdges}, end - begin)),
                  row, col});
}

/// A position in a list of the grid; threads that call together share one atomic addition.
__device__ inline int place_in(int* count) {
  const unsigned together = __activemask();
  const int leader = __ffs(static_cast<int>(together)) - 1, lane = static_cast<int>(threadIdx.x % 32);
  int place = 0;
  if (lane == leader) place = atomicAdd(count, __popc(together));
  return __shfl_sync(together, place, leader) + __popc(together & ((1U << lane) - 1));
}

/// The chunks of the next level that a block keeps in shared memory.
template <int kRoom>
struct Staging {
  static constexpr int kHalf = kRoom / 2;  ///< for frontiers that a block follows for itself
  EdgeChunk chunk[kRoom];
  int count, base;

  /// Stores a chunk in shared memory or, if that is full, in the grid's list.
  __device__ void put(const EdgeChunk& some, EdgeChunk* list, int* list_count) {
    const int place = atomicAdd(&count, 1);
    if (place < kRoom)
      chunk[place] = some;
    else
      list[place_in(list_count)] = some;
  }
  /// Moves the gathered chunks to the grid's list. The whole block must call it; `count` begins at 0.
  __device__ void flush(EdgeChunk* list, int* list_count) {
    __syncthreads();
    const int staged = min(count, kRoom);
    if (threadIdx.x == 0 && staged > 0) base = atomicAdd(list_count, staged);
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < staged; k += static_cast<int>(blockDim.x))
      list[base + k] = chunk[k];
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
  }
};

/// The number of this thread's group of lanes in the grid. Warps are numbered across blocks, so that the
/// groups of a short list are spread over all multiprocessors: the scattered reads of one alone would be
/// slow.
template <int kLanes>
__device__ int spread_group() {
  const unsigned warp = threadIdx.x / 32 * gridDim.x + blockIdx.x;
  return static_cast<int>((warp * 32 + threadIdx.x % 32) / kLanes);
}
__device__ inline unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Measures steps in the first thread.
struct Clock {
  unsigned long long begin = nanoseconds();
  __device__ void lap(unsigned long long& sum) {
    const unsigned long long now = nanoseconds();
    if (gpu::thread_index() == 0) sum += now - begin;
    begin = now;
  }
};

}  // namespace motes::matching::device
