#pragma once
/// The words, lists and counters that push_kernels.cuh and global_relabel.cuh share.

#include <cooperative_groups.h>

#include <motes/base/gpu/thread_index.cuh>

#include "matching/cardinality/two_sided_device_graph.cuh"
#include "matching/init/peel_device.cuh"

namespace motes::matching::device::pushing {

constexpr int kBlock = 1024;
constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffffU;
constexpr int kChunkEdges = 64;  ///< edges of a column that one group visits
constexpr int kStaged = 8192;    ///< chunks that a block gathers before it needs the grid's list
constexpr int kHalf = kStaged / 2;
constexpr int kAside = 4;  ///< chunks that a group visits at once, if there are many
constexpr int kApart =
    1024;  ///< chunks of a frontier per block, up to which each block explores its part alone
constexpr int kLook = 128;  ///< chunks of a block from which many visits are wasted, so that rows are read
                            ///< before they are claimed
constexpr int kHops = 8;    ///< levels that blocks explore alone,
constexpr int kThin = 1 << 12, kThinHops = 32;  ///< and where the whole frontier has few chunks
constexpr int kShare = 24;  ///< pushes that a chain may make in a phase, in addition to the number of levels
constexpr int kPatience = 4;  ///< phases in which no chain ends before fewer chains are tried
constexpr int kRecords = 64;  ///< phases recorded separately; the last one includes all later ones

using Word = unsigned long long;

constexpr unsigned kNoPath = 0x7fffffffU;
constexpr unsigned kUnreached = 0xffffffffU;
constexpr int kMostColumnBits = 29;   ///< of a row's word before it is reached: how many edges its column has
constexpr int kMostEdgeBits = 34;     ///< and where they begin
constexpr Word kUnseen = 1ULL << 63;  ///< not reached yet
constexpr Word kActive = ~0ULL;       ///< not reached yet, and it has no column
constexpr Word kGone = 0;             ///< free for good: no search reaches it

__device__ inline Word word_of(unsigned label, Index row) {
  return Word{label} << 32 | static_cast<unsigned>(row);
}
__device__ inline unsigned label_of(Word word) { return static_cast<unsigned>(word >> 32); }
__device__ inline Index row_of(Word word) { return static_cast<Index>(static_cast<unsigned>(word)); }

/// Edges of one column, on the columns' side, in one word: where they begin, how many they are.
using EdgeChunk = Word;
constexpr Word kCountMask = (1ULL << kMostColumnBits) - 1;
__device__ inline EdgeChunk stretch_of(Offset begin, Offset count) {
  return static_cast<Word>(begin) << kMostColumnBits | static_cast<Word>(count);
}
__device__ inline Offset begin_of(EdgeChunk chunk) { return static_cast<Offset>(chunk >> kMostColumnBits); }
__device__ inline int count_of(EdgeChunk chunk) { return static_cast<int>(chunk & kCountMask); }

/// Figures of one phase.
struct PhaseRecord {
  int active, reached, levels, longest;
  unsigned long long relabel_ns, push_ns, pushes;
};

struct Counters {
  int frontier[3], reached[3];  ///< of a round: chunks to visit; active rows that the round before reached
  int active[3], head[2];       ///< of a phase: rows to push; the next one to take
  int hops[3];                  ///< of a round: levels explored in the previous round
  int phases;
  unsigned long long edges;
  PhaseRecord record[kRecords];
};
static_assert(sizeof(Counters) <= 4096, "comes back in a page");

/// How the kernels divide the work, by the mean degree of the graph.
template <int kGroup, int kNearPerLane>
struct Shape {
  static constexpr int kLanes = kGroup;                                     ///< that read one row
  static constexpr int kSearchLanes = kGroup < kWarp ? 2 * kGroup : kWarp;  ///< that visit one chunk
  static constexpr int kEach = kNearPerLane;  ///< near columns of a row that a lane reads
  static constexpr int kNear =
      kLanes * kEach;  ///< columns of a row that lie at its place in one table, so that
                       ///< a reader of the row does not need the offset of its edges
};
constexpr Index kMore =
    -2;  ///< in the last near place: the row's other columns are only in its list of edges

struct Push {
  DeviceSides graph;
  const Index* near;  ///< [rows * kNear]; -1 where a row has fewer
  Word* word;         ///< [cols]
  Word* sight;        ///< [rows] for searches: kUnseen and the edges of its column, kActive, kGone, a level
  Index* active[2];   ///< [rows]
  EdgeChunk* frontier[2];  ///< [cols + nnz / kChunkEdges]
  Counters* n;
  int chain;                     ///< pushes of a chain in a phase; 0: by the levels of its search
  Peeling peeling;               ///< n is nullptr if there was none
  Index *rows_left, *cols_left;  ///< [rows], [cols] left by peeling

  __device__ bool peeled() const { return peeling.n != nullptr && peeling.n->on != 0; }
};

using gpu::thread_index;
using gpu::thread_total;
__device__ inline unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// The shared memory of a block.
struct Shared {
  EdgeChunk chunk[kStaged];
  int count, base, reached;
  int hop_count[3], hop_reached[3],
      told[2];  ///< of a level: as Counters for a round; and the rows that all blocks reached
};

/// Passes edges to put(chunk), at most kChunkEdges at a time.
template <class Put>
__device__ void for_chunks(EdgeChunk edges, Put&& put) {
  Offset begin = begin_of(edges);
  int count = count_of(edges);
  for (; count > kChunkEdges; begin += kChunkEdges, count -= kChunkEdges) put(stretch_of(begin, kChunkEdges));
  if (count > 0) put(stretch_of(begin, count));
}

/// Adds a chunk to the grid's list; lanes of a warp that call together share one atomic addition.
__device__ inline void append(const EdgeChunk& chunk, EdgeChunk* list, int* count) {
  const auto together = cooperative_groups::coalesced_threads();
  int place = 0;
  if (together.thread_rank() == 0) place = atomicAdd(count, static_cast<int>(together.size()));
  list[together.shfl(place, 0) + static_cast<int>(together.thread_rank())] = chunk;
}
/// Adds a chunk to the block's buffer or, if that is full, to the grid's list.
__device__ inline void stage(Shared& shared, const EdgeChunk& chunk, EdgeChunk* list, int* count) {
  const int place = atomicAdd(&shared.count, 1);
  if (place < kStaged)
    shared.chunk[place] = chunk;
  else
    append(chunk, list, count);
}
/// Moves the block's buffer to the grid's list, which ends a round of staging. Called by the whole block.
__device__ inline void unstage(Shared& shared, EdgeChunk* list, int* count, int* reached) {
  __syncthreads();
  const int staged = min(shared.count, kStaged);
  if (threadIdx.x == 0) {
    if (staged > 0) shared.base = atomicAdd(count, staged);
    if (shared.reached > 0) atomicAdd(reached, shared.reached);
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < staged; k += kBlock)
    list[shared.base + k] = shared.chunk[k];
  if (threadIdx.x == 0) shared.count = shared.reached = 0;
  __syncthreads();
}

}  // namespace motes::matching::device::pushing
