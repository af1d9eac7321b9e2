#pragma once
/// Proposals and packed words of Suitor on a GPU, and its vertices of many edges, each of which is
/// processed by a whole warp or block. suitor_kernels.cuh explains the method.

#include <cuda_runtime.h>

#include "matching/greedy/device_problem.cuh"

namespace motes::matching::device::suitor {

constexpr unsigned kAll = 0xffffffffU;
constexpr int kRoom = 512;  ///< entries that a warp holds in shared memory; a multiple of 4
constexpr int kWide = 64;   ///< degree from which a warp takes a vertex together
constexpr int kBig = 512;   ///< degree from which a vertex is among the first to be taken by a warp
constexpr int kHub = 4096;  ///< degree from which a block takes it
// Threads of a block, and blocks of a multiprocessor, of the three launches.
constexpr int kBlock = 256, kBlocks = 5;
constexpr int kWideBlock = 256, kWideBlocks = 5;
constexpr int kMergedBlocks = 4;
constexpr int kHubBlock = 512, kHubBlocks = 2;

struct Counters {
  int wide, hubs;               ///< lengths of the lists
  int big;                      ///< of the list that begins at the other end of wide
  int taken;                    ///< of both
  int chunks;                   ///< 32 vertices each, that warps have begun
  int left;                     ///< columns that have words, where not all have (Left)
  int pages;                    ///< of the list of Choices, beside each warp's first (dominant_pairs.cuh)
  unsigned long long total[2];  ///< proposals, entries read
};

/// A vertex that has to propose, along edges below the limit only.
struct Waiting {
  Word limit;
  Index vertex;
};

/// A warp's queue of waiting vertices, in shared memory.
template <int kSize>
struct Queue {
  Word limit[kSize];
  Index vertex[kSize];

  /// Adds the vertices of the lanes that have one to the `waiting` ones; returns the new number.
  __device__ int add(int waiting, int lane, const Waiting& me) {
    __syncwarp();
    const unsigned who = __ballot_sync(kAll, me.vertex != -1);
    if (me.vertex != -1) {
      const int at = waiting + __popc(who & ((1U << lane) - 1));
      limit[at] = me.limit;
      vertex[at] = me.vertex;
    }
    __syncwarp();
    return __popc(who);
  }
};

struct Suitor {
  GreedyLists lists;
  Index columns;
  Word* word;     ///< [columns], by place_of()
  Waiting* wide;  ///< [nnz / kWide + 1] vertices left to the second launch; big ones from the end
  Waiting* hubs;  ///< [nnz / kHub + 1] and to the third
  Counters* n;
};

/// Of 32 consecutive columns: those that have words, and the place of the first one's.
struct Left {
  unsigned who;
  int place;
};

/// Suitors of only the vertices that are left: the others are in pairs that no proposal can separate
/// (dominant_pairs.cuh). Words are then closer together, and more of them stay in the cache.
struct SuitorOfLeft : Suitor {
  const Left* left;  ///< [columns / 32 + 1]
};

/// Where the column's word is; -1 = it has none, and cannot be taken.
__device__ inline int place_of(const Suitor&, std::uint32_t column) { return static_cast<int>(column); }
__device__ inline int place_of(const SuitorOfLeft& s, std::uint32_t column) {
  const int2 left = __ldg(reinterpret_cast<const int2*>(s.left) + column / 32);
  const auto who = static_cast<unsigned>(left.x), me = 1U << column % 32;
  return (who & me) != 0 ? left.y + __popc(who & (me - 1)) : -1;
}

__device__ inline Word pack(std::uint32_t key, std::uint32_t mixed) { return Word{key} << 32 | mixed; }

/// A proposal of `vertex` along an edge (packed as seen from the vertex) to the column whose word is at
/// `place`. Returns whether it was accepted, and then the displaced vertex (-1: none).
__device__ inline bool propose(const Suitor& s, Index vertex, Word edge, int place, Waiting& displaced) {
  const Word mine = pack(key_of(edge), mix(static_cast<std::uint32_t>(vertex)));
  const Word old = atomicMax(reinterpret_cast<unsigned long long*>(s.word + place), mine);
  if (old >= mine) return false;
  displaced.vertex = old != 0 ? static_cast<Index>(vertex_of(old)) : -1;
  displaced.limit = pack(key_of(old), static_cast<std::uint32_t>(edge));
  return true;
}

template <class S>
__device__ inline bool propose(const S& s, Index vertex, Word edge, Waiting& displaced) {
  const int place = place_of(s, vertex_of(edge) - static_cast<std::uint32_t>(s.lists.shift));
  return propose(s, vertex, edge, place, displaced);
}

/// The word of a column; that of one that cannot be taken is better than all.
__device__ inline Word held_by(const Suitor& s, std::uint32_t column) { return __ldcg(s.word + column); }
__device__ inline Word held_by(const SuitorOfLeft& s, std::uint32_t column) {
  const int place = place_of(s, column);
  return place != -1 ? __ldcg(s.word + place) : ~Word{0};
}

struct Tally {
  unsigned proposals = 0;
  unsigned long long entries = 0;
};

/// Adds up the tallies of a block, which all its threads call: atomic additions to one address take some
/// nanoseconds each, too long for thousands of warps.
__device__ inline void tell(Counters* n, Tally tally) {
  __shared__ unsigned long long sum[2];
  if (threadIdx.x < 2) sum[threadIdx.x] = 0;
  __syncthreads();
  for (int step = 16; step > 0; step /= 2) {
    tally.proposals += __shfl_xor_sync(kAll, tally.proposals, step);
    tally.entries += __shfl_xor_sync(kAll, tally.entries, step);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sum[0], static_cast<unsigned long long>(tally.proposals));
    atomicAdd(&sum[1], tally.entries);
  }
  __syncthreads();
  if (threadIdx.x < 2) atomicAdd(n->total + threadIdx.x, sum[threadIdx.x]);
}

/// One less than the word below which no edge is open to the vertex. A vertex's word never exceeds its final
/// one (the first to do so would need another before it), so the best open edge of a vertex is never worse
/// than its present suitor. This avoids reads on general graphs; rows of bipartite graphs have no suitors.
template <class S>
__device__ inline Word floor_of(const S& s, const Waiting& me) {
  if (s.lists.shift != 0) return 0;
  const Word suitor = held_by(s, static_cast<std::uint32_t>(me.vertex));
  return suitor != 0 && suitor < me.limit ? suitor - 1 : 0;
}

__device__ inline Word warp_greatest(Word value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const Word other = __shfl_xor_sync(kAll, value, step);
    value = other > value ? other : value;
  }
  return value;
}

/// Settles a vertex of many edges, by `lanes` threads that call with the same arguments. Every thread keeps
/// the best edge of its own part and whether that is open; only threads whose best is taken, and still better
/// than the best open one, search again. reduce: the greatest of all threads' words, any: whether one says
/// so.
template <class Weights, class S, class Reduce, class Any>
__device__ inline Waiting settle_wide(const S& s, Offset begin, Offset end, Waiting me, int lane, int lanes,
                                      Tally& tally, const Reduce& reduce, const Any& any) {
  constexpr int kSide = 8;
  const auto shift = static_cast<std::uint32_t>(s.lists.shift);
  const auto* weights = s.lists.raw;
  const Word floor = floor_of(s, me);
  Word limit = me.limit, best = 0;
  bool look = true;
  Waiting displaced{0, -1};
  for (;;) {
    if (look) {
      best = floor;
      for (Offset e = begin + lane; e < end; e += Offset{kSide} * lanes) {
        std::uint32_t raw[kSide];
        Index col[kSide];
#pragma unroll
        for (int d = 0; d < kSide; ++d) {
          const Offset at = e + Offset{d} * lanes;
          col[d] = at < end ? s.lists.cols[at] : me.vertex - s.lists.shift;
          raw[d] = Weights::kStored && at < end ? weights[at] : 0;
        }
#pragma unroll
        for (int d = 0; d < kSide; ++d) {
          const std::uint32_t to = static_cast<std::uint32_t>(col[d]) + shift;
          const Word edge = pack(Weights::key(raw[d]), mix(to));
          if (to != static_cast<std::uint32_t>(me.vertex) && edge < limit && edge > best) best = edge;
        }
      }
      tally.entries += lane == 0 ? static_cast<unsigned long long>(end - begin) : 0;
      if (best == floor) best = 0;
      if (best != 0 && held_by(s, vertex_of(best) - shift) >=
                           pack(key_of(best), mix(static_cast<std::uint32_t>(me.vertex)))) {
        limit = best;
        best = 0;
      } else {
        look = false;
      }
    }
    const Word open = reduce(look ? 0 : best);
    if (any(look && limit > open)) continue;
    if (open == 0) return displaced;
    bool stands = false;
    if (!look && best == open) {
      ++tally.proposals;
      stands = propose(s, me.vertex, open, displaced);
      if (!stands) {
        limit = open;
        look = true;
      }
    }
    if (any(stands)) {
      displaced.limit = reduce(displaced.vertex != -1 ? displaced.limit : 0);
      displaced.vertex = static_cast<Index>(reduce(static_cast<Word>(displaced.vertex + 1))) - 1;
      return displaced;
    }
  }
}

/// A vertex of many edges and those that it displaces, one after the other, by a warp. Hubs are left to
/// hub_kernel.
template <class Weights, class S>
__device__ inline void settle_alone(const S& s, Waiting me, int lane, Tally& tally) {
  const auto any = [](bool yes) { return __any_sync(kAll, yes) != 0; };
  while (me.vertex != -1) {
    const Offset begin = s.lists.offsets[me.vertex], end = s.lists.offsets[me.vertex + 1];
    if (end - begin >= kHub) {
      if (lane == 0) s.hubs[atomicAdd(&s.n->hubs, 1)] = me;
      return;
    }
    me = settle_wide<Weights>(s, begin, end, me, lane, 32, tally, warp_greatest, any);
  }
}

/// Takes the next element of a list, for a warp.
__device__ inline int next_of(int& taken, int lane) {
  int k = 0;
  if (lane == 0) k = atomicAdd(&taken, 1);
  return __shfl_sync(kAll, k, 0);
}

/// The vertices of many edges, and those that they displace, a warp for each.
template <class Weights, class S>
__global__ void __launch_bounds__(kWideBlock, kWideBlocks) wide_kernel(S s) {
  const int lane = static_cast<int>(threadIdx.x % 32), count = s.n->wide;
  Tally tally;
  for (int k = count > 0 ? next_of(s.n->taken, lane) : 0; k < count; k = next_of(s.n->taken, lane))
    settle_alone<Weights>(s, s.wide[k], lane, tally);
  if (count > 0) tell(s.n, tally);
}

/// The vertices of very many edges, and those that they displace, a block for each.
template <class Weights, class S>
__global__ void __launch_bounds__(kHubBlock) hub_kernel(S s) {
  __shared__ Word greatest[kHubBlock / 32];
  const int lane = static_cast<int>(threadIdx.x);
  Tally tally;
  const auto reduce = [&](Word value) {
    value = warp_greatest(value);
    __syncthreads();
    if (lane % 32 == 0) greatest[lane / 32] = value;
    __syncthreads();
    value = greatest[lane % (kHubBlock / 32)];
    return warp_greatest(value);
  };
  const auto any = [&](bool yes) { return __syncthreads_or(yes) != 0; };
  const int hubs = s.n->hubs;
  for (int k = static_cast<int>(blockIdx.x); k < hubs; k += static_cast<int>(gridDim.x)) {
    Waiting me = s.hubs[k];
    while (me.vertex != -1)
      me = settle_wide<Weights>(s, s.lists.offsets[me.vertex], s.lists.offsets[me.vertex + 1], me, lane,
                                kHubBlock, tally, reduce, any);
  }
  if (hubs > 0) tell(s.n, tally);
}

}  // namespace motes::matching::device::suitor
