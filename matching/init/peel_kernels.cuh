#pragma once
/// The kernels of peel_device.cuh.
///
/// A vertex that is left with one neighbour is listed with it, as an entry. The group that has the entry
/// takes that neighbour and updates the words of the taken vertex's neighbours; a word then holds the one
/// neighbour left (the sum). A list of more than kChunkEdges edges is cut into chunks, which are entries like
/// others, so that many groups of lanes share a hub. In a round each block follows its part of the list for
/// some hops in shared memory: a barrier of one block costs a twentieth of that of the grid.
///
/// Races. Blocks need not wait for each other within a round. A vertex is taken once (an atomic
/// or of kTaken), and only then walked, so that its word is exact: the neighbours whose lists no thread has
/// begun to walk. Say that v0 were taken by v1, and took another itself, v1 being walked before v0 was
/// listed. Then v1 was taken, by some v2, before v0 was listed; v1 was listed with v0 as its only neighbour,
/// so v2 had been walked before, thus taken by some v3 before v1 was listed; and so on. As v(i) is listed
/// after v(i+1) is taken and takes v(i-1) later still, each v(i+1) is taken before v(i-1): no vertex comes
/// twice, and the chain would never end. So pairs agree; an edge left alone may be found from both its ends,
/// which write the same pair.

#include <cooperative_groups.h>

#include "matching/init/peel_device.cuh"

namespace motes::matching::device::peeling {

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffffU;
constexpr int kChunkEdges = 16;   ///< edges that a group processes for an entry
constexpr int kLanes = 4;         ///< lanes of a group
constexpr int kBlock = 1024;      ///< threads of a block that peels,
constexpr int kWeighBlock = 256;  ///< and of a block that counts,
constexpr int kWeighBlocks = 6;   ///< of which a multiprocessor has this many
constexpr int kHeavy = 1024;      ///< edges of a run of vertices that make it heavy,
constexpr int kHeavyRuns = 64;    ///< and the most of these runs that a block sets aside
constexpr int kFewOf = 64;        ///< PeelPlan::few counts only below 1 / kFewOf of the first list
constexpr int kSample = 4096;     ///< vertices sampled for the decision
constexpr int kHalf = 4096;       ///< entries of a hop in a block
constexpr int kHops = 8;          ///< hops per round

/// The vertex taken (high half: rows, then columns), and its mate, by its number on its own side; or
/// kRest and the number of a chunk of the vertex that was taken.
using Entry = unsigned long long;
constexpr unsigned kRest = 1U << 31;
constexpr Entry kNone = ~Entry{0};
__device__ inline Entry entry_of(unsigned taken, unsigned taker) { return Entry{taken} << 32 | taker; }

struct Peel {
  DeviceSides graph;
  Index *row_to_col, *col_to_row;
  Left* left;
  Entry* list[2];  ///< [rows + cols + 2 * nnz / kChunkEdges]
  PeelCounters* n;
  PeelPlan plan;

  __device__ unsigned rows() const { return static_cast<unsigned>(graph.rows); }
  __device__ unsigned vertices() const { return rows() + static_cast<unsigned>(graph.cols); }
  __device__ const Offset* offsets(unsigned vertex) const {
    return vertex < rows() ? graph.row_offsets + vertex : graph.col_offsets + (vertex - rows());
  }
  __device__ const Index* neighbours(unsigned vertex) const {
    return vertex < rows() ? graph.col_index : graph.row_index;
  }
};

/// Adds an entry to the grid's list; lanes of a warp that call together share one atomic addition.
__device__ inline void append(Entry entry, Entry* list, int* count) {
  const auto together = cooperative_groups::coalesced_threads();
  int place = 0;
  if (together.thread_rank() == 0) place = atomicAdd(count, static_cast<int>(together.size()));
  list[together.shfl(place, 0) + static_cast<int>(together.thread_rank())] = entry;
}

/// Whether the graph is worth peeling. One block.
__global__ void __launch_bounds__(kBlock) decide_kernel(Peel p) {
  __shared__ int some, single;
  if (p.plan.always) {
    if (threadIdx.x == 0) p.n->on = 1;
    return;
  }
  if (threadIdx.x == 0) some = single = 0;
  __syncthreads();
  int mine = 0, ones = 0;
#pragma unroll
  for (unsigned k = 0; k < kSample / kBlock; ++k) {
    const unsigned drawn = (k * kBlock + threadIdx.x) * 2654435761U;
    const Offset* at = p.offsets(static_cast<unsigned>(Left{drawn} * p.vertices() >> 32));
    const Offset degree = at[1] - at[0];
    mine += degree > 0 ? 1 : 0;
    ones += degree == 1 ? 1 : 0;
  }
  mine = __reduce_add_sync(kAll, mine), ones = __reduce_add_sync(kAll, ones);
  if (threadIdx.x % kWarp == 0) {
    atomicAdd(&some, mine);
    atomicAdd(&single, ones);
  }
  __syncthreads();
  if (threadIdx.x == 0) p.n->on = single * kSingleShare > some ? 1 : 0;
}

/// Runs of kWarp vertices, rows first, then columns.
struct Runs {
  unsigned of_rows, all;
  __device__ explicit Runs(const Peel& p)
      : of_rows((p.rows() + kWarp - 1) / kWarp),
        all(of_rows + (p.vertices() - p.rows() + kWarp - 1) / kWarp) {}
};

constexpr int kWeighEach = 8, kWeighPiece = kWeighEach * kWarp, kWeighKept = 64,
              kWeighWarps = kWeighBlock / kWarp;

/// A warp's entries before they are added to the first list.
struct KeptEntries {
  Entry* keep;
  unsigned lane, count = 0;

  __device__ __forceinline__ void flush(const Peel& p) {
    int base = 0;
    if (lane == 0) base = atomicAdd(p.n->listed, static_cast<int>(count));
    base = __shfl_sync(kAll, base, 0);
    __syncwarp();
    for (unsigned k = lane; k < count; k += kWarp) p.list[0][static_cast<unsigned>(base) + k] = keep[k];
    __syncwarp();
    count = 0;
  }
};

/// Sums of a run's neighbours up to the ends of the vertex before a lane's and of the lane's own, by a scan
/// over the edges first..last of all.
__device__ __forceinline__ void scan_run(const Index* list, Offset first, Offset last, Offset begin,
                                         Offset end, unsigned lane, unsigned* sum, unsigned& below,
                                         unsigned& upto) {
  unsigned carry = 0;
  for (Offset piece = first; piece < last; piece += kWeighPiece) {
    unsigned value[kWeighEach];
#pragma unroll
    for (int k = 0; k < kWeighEach; ++k) {
      const Offset e = piece + k * kWarp + lane;
      value[k] = e < last ? static_cast<unsigned>(list[e]) : 0;
    }
#pragma unroll
    for (int k = 0; k < kWeighEach; ++k) {
#pragma unroll
      for (unsigned step = 1; step < kWarp; step *= 2) {
        const unsigned other = __shfl_up_sync(kAll, value[k], step);
        if (lane >= step) value[k] += other;
      }
      value[k] += carry;
      carry = __shfl_sync(kAll, value[k], kWarp - 1);
      sum[k * kWarp + static_cast<int>(lane)] = value[k];
    }
    __syncwarp();
    if (begin - 1 >= piece && begin - 1 < piece + kWeighPiece) below = sum[begin - 1 - piece];
    if (end - 1 >= piece && end - 1 < piece + kWeighPiece) upto = sum[end - 1 - piece];
    __syncwarp();
  }
}

/// Hubs follow each other in many graphs: in runs of many edges a warp takes one vertex at a time.
__device__ __forceinline__ void weigh_heavy(const Peel& p, const Runs& runs, const unsigned* heavy,
                                            int heavy_count, unsigned warp, KeptEntries& kept) {
  const unsigned lane = kept.lane;
  for (unsigned k = warp; k < kWarp * static_cast<unsigned>(min(heavy_count, kHeavyRuns)); k += kWeighWarps) {
    const unsigned run = heavy[k / kWarp];
    const bool row = run < runs.of_rows;
    const unsigned mine = (row ? run : run - runs.of_rows) * kWarp + k % kWarp;
    if (mine >= (row ? p.rows() : p.vertices() - p.rows())) continue;
    const unsigned vertex = row ? mine : p.rows() + mine;
    const Offset begin = p.offsets(vertex)[0], end = p.offsets(vertex)[1];
    const Index* list = p.neighbours(vertex);
    unsigned all = 0;
    for (Offset e = begin + lane; e < end; e += kWeighPiece) {
#pragma unroll
      for (int d = 0; d < kWeighEach; ++d)
        if (e + d * kWarp < end) all += static_cast<unsigned>(list[e + d * kWarp]);
    }
    all = __reduce_add_sync(kAll, all);
    const auto degree = static_cast<unsigned>(end - begin);
    if (lane == 0) p.left[vertex] = Left{degree == 0 ? 0 : all} << 32 | degree;
    if (degree != 1) continue;
    if (lane == 0) kept.keep[kept.count] = entry_of(row ? p.rows() + all : all, mine);
    ++kept.count;
    __syncwarp();
    if (kept.count > kWeighKept) kept.flush(p);
  }
}

/// Words, and the first list. A warp takes kWarp vertices in turn, whose edges lie side by side: sums over
/// each vertex's are differences of sums over all of them.
__global__ void __launch_bounds__(kWeighBlock, kWeighBlocks) weigh_kernel(Peel p) {
  __shared__ unsigned sums[kWeighWarps][kWeighPiece];
  __shared__ Entry entries[kWeighWarps][kWeighKept + kWarp];
  __shared__ unsigned heavy[kHeavyRuns];
  __shared__ int heavy_count;
  if (p.n->on == 0) return;
  if (threadIdx.x == 0) heavy_count = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  KeptEntries kept{entries[warp], lane};
  const Runs runs(p);
  for (unsigned run = blockIdx.x * kWeighWarps + warp; run < runs.all; run += gridDim.x * kWeighWarps) {
    const bool row = run < runs.of_rows;
    const unsigned mine = (row ? run : run - runs.of_rows) * kWarp + lane,
                   size = row ? p.rows() : p.vertices() - p.rows();
    const Offset* offsets = row ? p.graph.row_offsets : p.graph.col_offsets;
    const Index* list = row ? p.graph.col_index : p.graph.row_index;
    const Offset begin = offsets[min(mine, size)], end = offsets[min(mine + 1, size)];
    const Offset first = __shfl_sync(kAll, begin, 0), last = __shfl_sync(kAll, end, kWarp - 1);
    if (last - first > kHeavy) {
      int place = 0;
      if (lane == 0) place = atomicAdd(&heavy_count, 1);
      place = __shfl_sync(kAll, place, 0);
      if (place < kHeavyRuns) {
        if (lane == 0) heavy[place] = run;
        continue;
      }
    }
    unsigned below = 0, upto = 0;
    scan_run(list, first, last, begin, end, lane, sums[warp], below, upto);
    const auto degree = static_cast<unsigned>(end - begin);
    const unsigned all = upto - below;
    if (mine < size) p.left[row ? mine : p.rows() + mine] = degree == 0 ? 0 : Left{all} << 32 | degree;
    const bool single = mine < size && degree == 1;
    const unsigned singles = __ballot_sync(kAll, single);
    if (single)
      kept.keep[kept.count + __popc(singles & ((1U << lane) - 1))] =
          entry_of(row ? p.rows() + all : all, mine);
    kept.count += __popc(singles);
    __syncwarp();
    if (kept.count > kWeighKept) kept.flush(p);
  }
  __syncthreads();
  weigh_heavy(p, runs, heavy, heavy_count, warp, kept);
  if (kept.count > 0) kept.flush(p);
}

struct Shared {
  Entry entry[2 * kHalf];
  int count[3], base;
};

/// The lanes of a group follow kSide entries (kNone: none). Entries that come of it go to put(entry).
template <int kSide, class Put>
__device__ void follow(const Peel& p, const Entry* entry, bool rests_only, Put&& put) {
  constexpr int kEach = kChunkEdges / kLanes;
  const unsigned lane = threadIdx.x % kLanes, first_lane = threadIdx.x % kWarp / kLanes * kLanes;
  const unsigned mask = ((1U << kLanes) - 1) << first_lane;
  Offset begin[kSide], end[kSide];
  bool walk[kSide];
#pragma unroll
  for (int d = 0; d < kSide; ++d) {
    const auto taken = static_cast<unsigned>(entry[d] >> 32), taker = static_cast<unsigned>(entry[d]);
    begin[d] = end[d] = 0;
    walk[d] = false;
    if (entry[d] == kNone) continue;
    walk[d] = (taker & kRest) != 0;
    if (!walk[d] && !rests_only && lane == 0)
      walk[d] = (static_cast<unsigned>(atomicOr(p.left + taken, Left{kTaken})) & kTaken) == 0;
    const Offset* at = p.offsets(taken);
    begin[d] = at[0], end[d] = at[1];
  }
#pragma unroll
  for (int d = 0; d < kSide; ++d) {
    const auto taken = static_cast<unsigned>(entry[d] >> 32), taker = static_cast<unsigned>(entry[d]);
    walk[d] = __shfl_sync(mask, static_cast<int>(walk[d]), static_cast<int>(first_lane)) != 0;
    if (!walk[d]) {
      begin[d] = end[d];
      continue;
    }
    const bool row = taken < p.rows();
    if ((taker & kRest) != 0) {
      begin[d] += Offset{taker & ~kRest} * kChunkEdges;
    } else {
      if (lane == 0) {
        const auto i = static_cast<Index>(row ? taken : taker),
                   j = static_cast<Index>(row ? taker : taken - p.rows());
        p.row_to_col[i] = j;
        p.col_to_row[j] = i;
      }
      const auto chunks = static_cast<unsigned>((end[d] - begin[d] + kChunkEdges - 1) / kChunkEdges);
      for (unsigned k = 1 + lane; k < chunks; k += kLanes) put(entry_of(taken, kRest | k));
    }
    end[d] = min(end[d], begin[d] + kChunkEdges);
  }
  Index other[kSide][kEach];
#pragma unroll
  for (int d = 0; d < kSide; ++d) {
    const Index* list = p.neighbours(static_cast<unsigned>(entry[d] >> 32));
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const Offset e = begin[d] + lane + k * kLanes;
      other[d][k] = e < end[d] ? list[e] : -1;
    }
  }
  Left was[kSide][kEach];
#pragma unroll
  for (int d = 0; d < kSide; ++d) {
    const auto taken = static_cast<unsigned>(entry[d] >> 32);
    const bool row = taken < p.rows();
    const Left less = Left{row ? taken : taken - p.rows()} << 32 | 1;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      was[d][k] = 0;
      if (other[d][k] != -1)
        was[d][k] =
            atomicAdd(p.left + (static_cast<unsigned>(other[d][k]) + (row ? p.rows() : 0)), ~less + 1);
    }
  }
#pragma unroll
  for (int d = 0; d < kSide; ++d) {
    const auto taken = static_cast<unsigned>(entry[d] >> 32);
    const bool row = taken < p.rows();
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      if (static_cast<unsigned>(was[d][k]) == 2) {
        const unsigned last = static_cast<unsigned>(was[d][k] >> 32) - (row ? taken : taken - p.rows());
        put(entry_of(row ? last : p.rows() + last, static_cast<unsigned>(other[d][k])));
      }
  }
}

/// A round: every block follows its part of the list.
__device__ inline void follow_apart(const Peel& p, Shared& shared, const Entry* from, int listed,
                                    bool rests_only, Entry* list, int* list_count) {
  constexpr int kGroups = kBlock / kLanes, kSide = 2;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int part = (listed + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
  const int last = min(listed, (static_cast<int>(blockIdx.x) + 1) * part);
  for (int begin = static_cast<int>(blockIdx.x) * part; begin < last; begin += kHalf) {
    int count = min(kHalf, last - begin), hop = 0;
    for (int k = static_cast<int>(threadIdx.x); k < count; k += kBlock) shared.entry[k] = from[begin + k];
    if (threadIdx.x < 3) shared.count[threadIdx.x] = 0;
    __syncthreads();
    while (count > 0 && hop < (part > kHalf ? 1 : kHops)) {
      const Entry* now = shared.entry + hop % 2 * kHalf;
      Entry* next = shared.entry + (hop + 1) % 2 * kHalf;
      int* next_count = shared.count + (hop + 1) % 3;
      const auto put = [&](Entry entry) {
        const int place = atomicAdd(next_count, 1);
        if (place < kHalf)
          next[place] = entry;
        else
          append(entry, list, list_count);
      };
      if (count <= kGroups) {
        if (group < count) follow<1>(p, now + group, rests_only, put);
      } else {
        for (int k = group; k < count; k += kSide * kGroups) {
          Entry some[kSide];
#pragma unroll
          for (int d = 0; d < kSide; ++d) some[d] = k + d * kGroups < count ? now[k + d * kGroups] : kNone;
          follow<kSide>(p, some, rests_only, put);
        }
      }
      if (threadIdx.x == 0) shared.count[(hop + 2) % 3] = 0;
      __syncthreads();
      ++hop;
      count = min(*next_count, kHalf);
    }
    if (threadIdx.x == 0 && count > 0) shared.base = atomicAdd(list_count, count);
    __syncthreads();
    const Entry* rest = shared.entry + hop % 2 * kHalf;
    for (int k = static_cast<int>(threadIdx.x); k < count; k += kBlock) list[shared.base + k] = rest[k];
    __syncthreads();
  }
}

/// Gives free columns to the rows left, in the order of requests.
__device__ inline void take_free(const Peel& p) {
  constexpr int kGroups = kWarp / kLanes;
  const unsigned lane = threadIdx.x % kLanes, first_lane = threadIdx.x % kWarp / kLanes * kLanes;
  const unsigned mask = ((1U << kLanes) - 1) << first_lane;
  const unsigned step = gridDim.x * kBlock;
  for (unsigned base = (blockIdx.x * kBlock + threadIdx.x) / kWarp * kWarp; base < p.rows(); base += step) {
    const unsigned mine = base + threadIdx.x % kWarp;
    unsigned rows = __ballot_sync(kAll, mine < p.rows() && !is_peeled(__ldcg(p.left + mine)));
    while (rows != 0) {
      unsigned place = rows;
      for (unsigned k = first_lane / kLanes; k > 0; --k) place &= place - 1;
      for (int k = 0; k < kGroups; ++k) rows &= rows - 1;
      if (place != 0) {
        const unsigned row = base + static_cast<unsigned>(__ffs(static_cast<int>(place))) - 1;
        const Offset end = p.graph.row_offsets[row + 1];
        bool found = false;
        for (Offset e = p.graph.row_offsets[row]; e < end && !found; e += kLanes) {
          const Index j = e + lane < end ? p.graph.col_index[e + lane] : -1;
          unsigned open = __ballot_sync(mask, j != -1 && __ldcg(p.col_to_row + j) == -1);
          while (open != 0 && !found) {
            const unsigned chosen = static_cast<unsigned>(__ffs(static_cast<int>(open))) - 1;
            open &= open - 1;
            if (threadIdx.x % kWarp == chosen) {
              found = atomicCAS(p.col_to_row + j, -1, static_cast<Index>(row)) == -1;
              if (found) p.row_to_col[row] = j;
            }
            found = __shfl_sync(mask, static_cast<int>(found), static_cast<int>(chosen)) != 0;
          }
        }
      }
      __syncwarp();
    }
  }
}

__global__ void __launch_bounds__(kBlock, 1) peel_kernel(Peel p) {
  extern __shared__ Entry memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  PeelCounters& n = *p.n;
  if (n.on == 0) return;
  const auto grid = cooperative_groups::this_grid();
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  int round = 0;
  const int few = min(p.plan.few, n.listed[0] / kFewOf);
  for (;; ++round) {
    const int count = n.listed[round % 3];
    if (count == 0) break;
    const bool rests_only = count <= few;
    if (first) n.listed[(round + 2) % 3] = 0;
    follow_apart(p, shared, p.list[round % 2], count, rests_only, p.list[(round + 1) % 2],
                 n.listed + (round + 1) % 3);
    grid.sync();
    if (rests_only) break;
  }
  if (p.plan.greedy) take_free(p);
}

}  // namespace motes::matching::device::peeling
