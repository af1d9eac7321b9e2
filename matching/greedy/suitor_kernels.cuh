#pragma once
/// Suitor (Manne & Halappanavar 2014) on a GPU, all of it in three launches.
///
/// word[u] holds the best proposal that u has, as a packed word (order.h), so that one 64-bit atomicMax is a
/// proposal, and tells whether it stands and who is displaced. The displaced vertex goes on below the edge it
/// lost: words only grow, and an edge that was refused once is refused for good. So a vertex that waits is
/// known by its number and that limit. Under a total order every schedule ends in the same words, those of
/// sorted greedy (docs/algorithms.md has the proof).
///
/// A warp copies the lists of 32 consecutive vertices into shared memory, 16 bytes a copy, and each lane
/// looks through its vertex's there; that reads most of the graph once, in order. Vertices that were
/// displaced or refused wait in the warp's queue until 32 are together, and are copied likewise, 8 lanes a
/// vertex. So lanes are busy though chains differ in length, no lane waits for another's, and nothing waits
/// for the grid. Vertices of many edges are left to a second launch, a warp each, those of very many to a
/// third, a block each; who is displaced there is continued by the same threads.
///
/// Races: word is only changed by atomicMax and only grows, so that a stale value can do no more than cause
/// a proposal that then fails. Everything else is a warp's or a block's own.

#include <cuda_runtime.h>

#include "matching/greedy/device_problem.cuh"

namespace motes::matching::device::suitor {

constexpr unsigned kAll = 0xffffffffU;
constexpr int kRoom = 512;  ///< entries that a warp holds in shared memory; a multiple of 4
constexpr int kWide = 64;   ///< degree from which a warp takes a vertex together
constexpr int kHub = 4096;  ///< degree from which a block does
// Threads of a block, and blocks of a multiprocessor, of the three launches.
constexpr int kBlock = 256, kBlocks = 5;
constexpr int kWideBlock = 256, kWideBlocks = 5;
constexpr int kHubBlock = 512, kHubBlocks = 2;

struct Counters {
  int wide, hubs;  ///< lengths of the lists
  int taken;       ///< of wide
  unsigned long long proposals, refused, entries;
};

/// A vertex that has to propose, along edges below the limit only.
struct Waiting {
  Word limit;
  Index vertex;
};

struct Suitor {
  GreedyLists lists;
  Word* word;     ///< [columns]
  Waiting* wide;  ///< [nnz / kWide] vertices left to the second launch
  Waiting* hubs;  ///< [nnz / kHub] and to the third
  Counters* n;
};

__device__ inline Word pack(std::uint32_t key, std::uint32_t mixed) { return Word{key} << 32 | mixed; }

/// A proposal of `vertex` along an edge, as the vertex sees it. Returns whether it stands; then tells who was
/// displaced, or nobody (vertex -1).
__device__ inline bool propose(const Suitor& s, Index vertex, Word edge, Waiting& displaced) {
  const Word mine = pack(key_of(edge), mix(static_cast<std::uint32_t>(vertex)));
  const std::uint32_t target = vertex_of(edge) - static_cast<std::uint32_t>(s.lists.shift);
  const Word old = atomicMax(reinterpret_cast<unsigned long long*>(s.word + target), mine);
  if (old >= mine) return false;
  displaced.vertex = old != 0 ? static_cast<Index>(vertex_of(old)) : -1;
  displaced.limit = pack(key_of(old), static_cast<std::uint32_t>(edge));
  return true;
}

/// A warp's shared memory.
struct alignas(16) Room {
  Index col[kRoom];
  std::uint32_t weight[kRoom];
  Word limit[64];
  Index vertex[64];
};

struct Tally {
  unsigned proposals = 0, refused = 0;
  unsigned long long entries = 0;
};

/// The best two of entries [first, last) of the room; 0 = none. Keys alone tell in most cases, and columns
/// need not be read but for these two.
struct Two {
  Word best = 0, second = 0;
};
template <class Weights>
__device__ inline Two two_of(const Room& room, int first, int last, std::uint32_t shift) {
  const auto edge_of = [&](int i) {
    return pack(Weights::key(Weights::kStored ? room.weight[i] : 0),
                mix(static_cast<std::uint32_t>(room.col[i]) + shift));
  };
  // What entries are compared by; of equal weights the neighbours' mixed numbers, of which none is twice.
  const auto rank_of = [&](int i) {
    return Weights::kStored ? Weights::key(room.weight[i])
                            : mix(static_cast<std::uint32_t>(room.col[i]) + shift);
  };
  std::uint32_t best = 0, second = 0;
  int where = -1, where_second = -1;
  bool tie = false;
  for (int i = first; i < last; ++i) {
    const std::uint32_t rank = rank_of(i);
    tie = tie || (Weights::kStored && (rank == best || rank == second));
    if (rank > best || where < 0) {
      second = best;
      where_second = where;
      best = rank;
      where = i;
    } else if (rank > second || where_second < 0) {
      second = rank;
      where_second = i;
    }
  }
  Two two;
  if (tie) {
    for (int i = first; i < last; ++i) {
      const Word edge = edge_of(i);
      if (edge > two.best) {
        two.second = two.best;
        two.best = edge;
      } else if (edge > two.second) {
        two.second = edge;
      }
    }
    return two;
  }
  if (where >= 0) two.best = edge_of(where);
  if (where_second >= 0) two.second = edge_of(where_second);
  return two;
}

/// The word below which no edge is open to the vertex, less 1. No word ever passes what its vertex has in the
/// end (the first to do so would need another one before it), so that the best open edge of a vertex is never
/// behind its suitor of now. Of general graphs that spares reads; rows of bipartite ones have no suitors.
__device__ inline Word floor_of(const Suitor& s, const Waiting& me) {
  if (s.lists.shift != 0) return 0;
  const Word suitor = __ldcg(s.word + me.vertex);
  return suitor != 0 && suitor < me.limit ? suitor - 1 : 0;
}

/// The best of entries [first, last) of the room, below the limit and above the floor, whose other end has no
/// better suitor; 0 = none.
template <class Weights>
__device__ inline Word open_of(const Suitor& s, const Room& room, int first, int last, const Waiting& me,
                               Word floor) {
  constexpr int kSide = 4;
  const auto shift = static_cast<std::uint32_t>(s.lists.shift);
  const std::uint32_t mixed = mix(static_cast<std::uint32_t>(me.vertex));
  Word best = floor;
  for (int i = first; i < last; i += kSide) {
    Word edge[kSide], held[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      const int at = min(i + d, last - 1);
      const auto col = static_cast<std::uint32_t>(room.col[at]);
      edge[d] = pack(Weights::key(Weights::kStored ? room.weight[at] : 0), mix(col + shift));
      const bool wanted = edge[d] < me.limit && edge[d] > best;
      held[d] = wanted ? __ldcg(s.word + col) : ~Word{0};
    }
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      if (edge[d] > best && held[d] < pack(key_of(edge[d]), mixed)) best = edge[d];
  }
  return best == floor ? 0 : best;
}

/// A vertex of many edges, by `lanes` threads that call with the same arguments. Every thread keeps the best
/// edge of its own part and whether that is open; only threads whose best is taken, and still better than the
/// best open one, look again. reduce: the greatest of all threads' words, any: whether one says so.
template <class Weights, class Reduce, class Any>
__device__ inline Waiting settle_wide(const Suitor& s, Offset begin, Offset end, Waiting me, int lane,
                                      int lanes, Tally& tally, const Reduce& reduce, const Any& any) {
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
      if (best != 0 && __ldcg(s.word + (vertex_of(best) - shift)) >=
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
        ++tally.refused;
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

__device__ inline Word warp_greatest(Word value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const Word other = __shfl_xor_sync(kAll, value, step);
    value = other > value ? other : value;
  }
  return value;
}

/// What a warp does: 32 vertices are copied into the room, every lane settles its own.
template <class Weights>
struct Warp {
  const Suitor& s;
  Room& room;
  int lane;
  int waiting = 0;    ///< in the room's queue, below 64
  Offset next;        ///< the first vertex of the next 32
  Index vertex = -1;  ///< the lane's, of the last 32
  Offset base = 0;    ///< where the first's list begins
  int at = 0;         ///< and where, from there, the lane's does
  int degree = 0;     ///< 0 of vertices that are the next launch's
  unsigned todo = 0;  ///< lanes whose vertices are still to be settled
  Tally tally{};

  /// Whether the proposal stands. Loops are no edges.
  __device__ bool attempt(const Waiting& me, Word edge, Waiting& displaced) {
    if (vertex_of(edge) == static_cast<std::uint32_t>(me.vertex)) return false;
    ++tally.proposals;
    const bool stands = propose(s, me.vertex, edge, displaced);
    tally.refused += stands ? 0 : 1;
    return stands;
  }

  /// What a lane has in the room.
  struct Load {
    Waiting me{0, -1};
    Waiting after{0, -1};  ///< who waits after that: me, where the room was full
    int first = 0, last = 0;
    Word floor = 0;
  };

  __device__ int rank(unsigned who) const { return __popc(who & ((1U << lane) - 1)); }

  /// Copies that start now and are waited for in settle(). Lists are read once or twice, words over and over:
  /// lists are the first to leave the cache.
  template <int kBytes>
  __device__ static void copy(void* to, const void* from) {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (kBytes == 16)
      asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(shared), "l"(from),
                   "l"(policy)
                   : "memory");
    else
      asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 4, %2;" ::"r"(shared), "l"(from),
                   "l"(policy)
                   : "memory");
  }
  template <int kEntries>
  __device__ void copy_entries(int to, Offset from) {
    copy<4 * kEntries>(room.col + to, s.lists.cols + from);
    if constexpr (Weights::kStored) copy<4 * kEntries>(room.weight + to, s.lists.raw + from);
  }

  /// Vertices of many edges are the next launch's.
  __device__ void postpone(bool is_wide, const Waiting& me) {
    const unsigned who = __ballot_sync(kAll, is_wide);
    if (who == 0) return;
    int place = 0;
    if (lane == 0) place = atomicAdd(&s.n->wide, __popc(who));
    place = __shfl_sync(kAll, place, 0) + rank(who);
    if (is_wide) s.wide[place] = me;
  }

  /// The next 32 vertices in a row.
  __device__ void advance(Offset stride) {
    vertex = static_cast<Index>(next) + lane;
    Offset begin = 0, end = 0;
    if (next + lane < s.lists.count) {
      begin = s.lists.offsets[next + lane];
      end = s.lists.offsets[next + lane + 1];
    }
    next += stride;
    base = __shfl_sync(kAll, begin, 0);
    const bool is_wide = end - begin >= kWide || end - base >= Offset{1} << 31;
    postpone(is_wide, {~Word{0}, vertex});
    at = static_cast<int>(begin - base);
    degree = is_wide ? 0 : static_cast<int>(end - begin);
    todo = __ballot_sync(kAll, degree > 0);
  }

  /// All of them at once, where they are next to each other in memory and have room.
  __device__ bool stream(Load& load) {
    const int from = __ffs(static_cast<int>(todo)) - 1, to = 31 - __clz(static_cast<int>(todo));
    const Offset first = base + __shfl_sync(kAll, at, from);
    const auto lead = static_cast<int>(first & 3);  // 16 bytes are read at a time
    const int count = __shfl_sync(kAll, at + degree, to) - __shfl_sync(kAll, at, from) + lead;
    if (count > kRoom) return false;
    const Offset even = first - lead;
    const int whole = count & ~3;
    for (int k = 4 * lane; k < whole; k += 128) copy_entries<4>(k, even + k);
    if (whole + lane < count) copy_entries<1>(whole + lane, even + whole + lane);
    if ((todo >> lane & 1U) != 0) {
      load.me = {~Word{0}, vertex};
      load.first = static_cast<int>(base + at - even);
      load.last = load.first + degree;
    }
    todo = 0;
    return true;
  }

  /// The lists of all lanes, 8 lanes for each. Returns whether a lane's had room.
  __device__ bool gather(Offset source, int length, Load& load) {
    int place = length;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(kAll, place, step);
      if (lane >= step) place += before;
    }
    place -= length;
    const bool fits = place + length <= kRoom;  // the first lane's that has edges does
    if (!fits) length = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int row = 4 * k + lane / 8;
      const Offset from = __shfl_sync(kAll, source, row);
      const int entries = __shfl_sync(kAll, length, row), to = __shfl_sync(kAll, place, row);
      for (int i = lane % 8; i < entries; i += 8) copy_entries<1>(to + i, from + i);
    }
    load.first = place;
    load.last = place + length;
    return fits;
  }

  /// What is left of the last 32 vertices, as far as there is room.
  __device__ Load rest() {
    Load load;
    if (stream(load)) return load;
    const bool wanted = (todo >> lane & 1U) != 0;
    const bool fits = gather(base + at, wanted ? degree : 0, load);
    if (wanted && fits) load.me = {~Word{0}, vertex};
    todo = __ballot_sync(kAll, wanted && !fits);
    return load;
  }

  /// Up to 32 vertices of the queue; those for which there is no room wait again.
  __device__ Load queued() {
    const int count = min(waiting, 32);
    waiting -= count;
    Load load;
    Offset source = 0;
    int length = 0;
    bool is_wide = false;
    if (lane < count) {
      load.me = {room.limit[waiting + lane], room.vertex[waiting + lane]};
      source = s.lists.offsets[load.me.vertex];
      const Offset entries = s.lists.offsets[load.me.vertex + 1] - source;
      is_wide = entries >= kWide;
      if (!is_wide) length = static_cast<int>(entries);
    }
    __syncwarp();
    postpone(is_wide, load.me);
    if (is_wide) load.me.vertex = -1;
    if (load.me.vertex != -1) load.floor = floor_of(s, load.me);
    if (!gather(source, length, load)) {
      load.after = load.me;
      load.me.vertex = -1;
    }
    return load;
  }

  /// Lanes' vertices propose: those that have not done so yet along their best edge, else along the second,
  /// without looking who is there, others along the best one that is open. Then who was displaced or refused
  /// waits: all lanes do the same, and none waits for another that is refused time and again.
  __device__ void settle(Load load) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    tally.entries += static_cast<unsigned>(load.last - load.first);
    Waiting& me = load.me;
    if (me.vertex != -1) {
      Two two;
      if (me.limit == ~Word{0})
        two = two_of<Weights>(room, load.first, load.last, static_cast<std::uint32_t>(s.lists.shift));
      else
        two.best = open_of<Weights>(s, room, load.first, load.last, me, load.floor);
      if (two.best != 0 && !attempt(me, two.best, load.after)) {
        load.after = {two.best, me.vertex};
        if (two.second != 0 && !attempt(me, two.second, load.after)) load.after = {two.second, me.vertex};
      }
    }
    __syncwarp();
    const unsigned who = __ballot_sync(kAll, load.after.vertex != -1);
    if (load.after.vertex != -1) {
      room.limit[waiting + rank(who)] = load.after.limit;
      room.vertex[waiting + rank(who)] = load.after.vertex;
    }
    waiting += __popc(who);
    __syncwarp();
  }
};

__device__ inline void tell(Counters* n, Tally tally) {
  for (int step = 16; step > 0; step /= 2) {
    tally.proposals += __shfl_xor_sync(kAll, tally.proposals, step);
    tally.refused += __shfl_xor_sync(kAll, tally.refused, step);
    tally.entries += __shfl_xor_sync(kAll, tally.entries, step);
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&n->proposals, static_cast<unsigned long long>(tally.proposals));
  atomicAdd(&n->refused, static_cast<unsigned long long>(tally.refused));
  atomicAdd(&n->entries, tally.entries);
}

template <class Weights>
__global__ void __launch_bounds__(kBlock, kBlocks) suitor_kernel(Suitor s) {
  __shared__ Room rooms[kBlock / 32];
  // Warps of a block take vertices far apart, so that regions of many edges are everybody's.
  const int me = static_cast<int>(threadIdx.x / 32 * gridDim.x + blockIdx.x);
  const Offset stride = Offset{32} * (kBlock / 32) * gridDim.x;
  Warp<Weights> warp{s, rooms[threadIdx.x / 32], static_cast<int>(threadIdx.x % 32), 0, Offset{32} * me};
  for (;;) {
    if (warp.waiting < 32 && warp.todo == 0 && warp.next < s.lists.count) {
      warp.advance(stride);
    } else if (warp.waiting < 32 && warp.todo != 0) {
      warp.settle(warp.rest());
    } else if (warp.waiting != 0) {
      warp.settle(warp.queued());
    } else {
      break;
    }
  }
  tell(s.n, warp.tally);
}

/// The vertices of many edges, and those that they displace, a warp for each.
template <class Weights>
__global__ void __launch_bounds__(kWideBlock, kWideBlocks) wide_kernel(Suitor s) {
  const int lane = static_cast<int>(threadIdx.x % 32), count = s.n->wide;
  Tally tally;
  const auto any = [](bool yes) { return __any_sync(kAll, yes) != 0; };
  for (;;) {
    int k = 0;
    if (lane == 0) k = atomicAdd(&s.n->taken, 1);
    k = __shfl_sync(kAll, k, 0);
    if (k >= count) break;
    Waiting me = s.wide[k];
    while (me.vertex != -1) {
      const Offset begin = s.lists.offsets[me.vertex], end = s.lists.offsets[me.vertex + 1];
      if (end - begin >= kHub) {
        if (lane == 0) s.hubs[atomicAdd(&s.n->hubs, 1)] = me;
        break;
      }
      me = settle_wide<Weights>(s, begin, end, me, lane, 32, tally, warp_greatest, any);
    }
  }
  if (count > 0) tell(s.n, tally);
}

/// The vertices of very many edges, and those that they displace, a block for each.
template <class Weights>
__global__ void __launch_bounds__(kHubBlock) hub_kernel(Suitor s) {
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
