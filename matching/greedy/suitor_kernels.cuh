#pragma once
/// Suitor (Manne & Halappanavar 2014) on a GPU, all of it in two launches.
///
/// Each vertex proposes along its best edge whose other end it can outbid: word[u] holds the best proposal
/// that u has, as a packed word (order.h), so that one 64-bit atomicMax is a proposal, tells whether it
/// stands, and who is displaced. The displaced vertex goes on below the edge it lost: words only grow, and
/// so an edge that was refused once is refused for good; what a vertex still has to look at are its edges
/// below a limit, and no state of a vertex is kept but that limit while it waits. Under a total order every
/// schedule ends in the same words, those of sorted greedy.
///
/// A warp streams 32 consecutive vertices into shared memory with 16-byte copies, which is all that most of
/// the graph's bytes are read for, and lets each lane look through its vertex there; vertices that were
/// displaced wait in the warp's queue until 32 are together, and are copied likewise, 8 lanes a vertex. So
/// lanes are busy though chains differ in length, and nothing waits for the grid. Vertices of many edges are
/// looked through by the whole warp, those of very many by the blocks of a second launch.
///
/// Races: word is only changed by atomicMax and only grows, so that a stale value can do no more than cause
/// a proposal that then fails. Everything else is a warp's or a block's own.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "matching/greedy/device_problem.cuh"

namespace motes::matching::device::suitor {

constexpr unsigned kAll = 0xffffffffU;
constexpr int kRoom = 384;   ///< entries that a warp holds in shared memory; a multiple of 4
constexpr int kWide = 64;    ///< degree from which a warp takes a vertex together
constexpr int kHub = 4096;   ///< degree from which a block does
constexpr int kBlock = 256;  ///< threads
constexpr int kBlocks = 6;   ///< of a multiprocessor
constexpr int kHubBlock = 512;
constexpr int kCareful = 1;

struct Counters {
  int wide, hubs;
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

/// One proposal of `vertex` along the edge `edge` (as the vertex sees it). Returns the word that was there:
/// the proposal stands if that is less than the proposal.
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

/// The best of entries [first, last) of the room below the limit; 0 = none.
template <class Weights>
__device__ inline Word best_of(const Room& room, int first, int last, Word limit, std::uint32_t shift) {
  Word best = 0;
  for (int i = first; i < last; ++i) {
    const std::uint32_t key = Weights::key(Weights::kStored ? room.weight[i] : 0);
    if (key < key_of(best) || key > key_of(limit)) continue;
    const Word edge = pack(key, mix(static_cast<std::uint32_t>(room.col[i]) + shift));
    if (edge > best && edge < limit) best = edge;
  }
  return best;
}

/// The same for a vertex that has not proposed yet. Keys alone tell in most cases, and columns need not be
/// read but for the best.
template <class Weights>
__device__ inline Word first_of(const Room& room, int first, int last, std::uint32_t shift) {
  if constexpr (!Weights::kStored) return best_of<Weights>(room, first, last, ~Word{0}, shift);
  std::uint32_t best = 0;
  int where = first;
  bool tie = false;
  for (int i = first; i < last; ++i) {
    const std::uint32_t key = Weights::key(room.weight[i]);
    tie = tie || key == best;
    if (key > best) {
      best = key;
      where = i;
    }
  }
  if (tie) return best_of<Weights>(room, first, last, ~Word{0}, shift);
  return best == 0 ? 0 : pack(best, mix(static_cast<std::uint32_t>(room.col[where]) + shift));
}

/// The same of the edges whose other end has no better suitor.
template <class Weights>
__device__ inline Word open_of(const Suitor& s, const Room& room, int first, int last, const Waiting& me) {
  constexpr int kSide = 4;
  const auto shift = static_cast<std::uint32_t>(s.lists.shift);
  const std::uint32_t mixed = mix(static_cast<std::uint32_t>(me.vertex));
  Word best = 0;
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
  return best;
}

/// A vertex of many edges, by `lanes` threads, which call with the same arguments. Every
/// thread keeps its own best edge and whether it is open; only threads whose best is taken, and still better
/// than the best open one, look again. reduce: the greatest of all threads' words, any: whether one says so.
template <class Weights, class Reduce, class Any>
__device__ inline Waiting settle_wide(const Suitor& s, Offset begin, Offset end, Waiting me, int lane,
                                      int lanes, Tally& tally, const Reduce& reduce, const Any& any) {
  constexpr int kSide = 8;
  const auto shift = static_cast<std::uint32_t>(s.lists.shift);
  const auto* weights = s.lists.raw;
  Word limit = me.limit, best = 0;
  bool look = true;
  Waiting displaced{0, -1};
  for (;;) {
    if (look) {
      best = 0;
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
  Offset begin = 0, end = 0;
  unsigned todo = 0;  ///< lanes whose vertices are still to be settled
  Tally tally{};

  /// What a lane has in the room.
  struct Load {
    Waiting me{0, -1};
    Waiting after{0, -1};  ///< who waits after that: me, where the room was full
    int first = 0, last = 0;
  };

  __device__ int rank(unsigned who) const { return __popc(who & ((1U << lane) - 1)); }

  __device__ void copy4(int to, Offset from) {
    __pipeline_memcpy_async(room.col + to, s.lists.cols + from, 4);
    if constexpr (Weights::kStored) __pipeline_memcpy_async(room.weight + to, s.lists.raw + from, 4);
  }
  __device__ void copy16(int to, Offset from) {
    __pipeline_memcpy_async(room.col + to, s.lists.cols + from, 16);
    if constexpr (Weights::kStored) __pipeline_memcpy_async(room.weight + to, s.lists.raw + from, 16);
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
    begin = end = 0;
    if (next + lane < s.lists.count) {
      begin = s.lists.offsets[vertex];
      end = s.lists.offsets[vertex + 1];
    }
    next += stride;
    const bool is_wide = end - begin >= kWide;
    postpone(is_wide, {~Word{0}, vertex});
    if (is_wide) end = begin;
    todo = __ballot_sync(kAll, end > begin);
  }

  /// As many of them as are next to each other in memory and have room.
  __device__ Load stream() {
    const int from = __ffs(static_cast<int>(todo)) - 1;
    const Offset even = __shfl_sync(kAll, begin, from) & ~Offset{3};  // 16 bytes are read at a time
    const unsigned others = __ballot_sync(kAll, lane > from && end > begin && end - even > kRoom);
    const bool mine =
        lane >= from && end > begin && (others == 0 || lane < __ffs(static_cast<int>(others)) - 1);
    const unsigned group = __ballot_sync(kAll, mine);
    const auto count = static_cast<int>(__shfl_sync(kAll, end, 31 - __clz(static_cast<int>(group))) - even);
    const int whole = count & ~3;
    for (int k = 4 * lane; k < whole; k += 128) copy16(k, even + k);
    if (whole + lane < count) copy4(whole + lane, even + whole + lane);
    todo &= ~group;
    return {{~Word{0}, mine ? vertex : -1},
            {0, -1},
            mine ? static_cast<int>(begin - even) : 0,
            mine ? static_cast<int>(end - even) : 0};
  }

  /// Up to 32 vertices of the queue, 8 lanes for each.
  __device__ Load gather() {
    const int count = min(waiting, 32);
    waiting -= count;
    Load load;
    Offset source = 0;
    int degree = 0;
    bool is_wide = false;
    if (lane < count) {
      load.me = {room.limit[waiting + lane], room.vertex[waiting + lane]};
      source = s.lists.offsets[load.me.vertex];
      const Offset length = s.lists.offsets[load.me.vertex + 1] - source;
      is_wide = length >= kWide;
      if (!is_wide) degree = static_cast<int>(length);
    }
    __syncwarp();
    postpone(is_wide, load.me);
    if (is_wide) load.me.vertex = -1;
    int place = degree;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(kAll, place, step);
      if (lane >= step) place += before;
    }
    place -= degree;
    if (place + degree > kRoom) {  // never the first lane that has edges
      load.after = load.me;
      load.me.vertex = -1;
      degree = 0;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int row = 4 * k + lane / 8;
      const Offset at = __shfl_sync(kAll, source, row);
      const int length = __shfl_sync(kAll, degree, row), to = __shfl_sync(kAll, place, row);
      for (int i = lane % 8; i < length; i += 8) copy4(to + i, at + i);
    }
    load.first = place;
    load.last = place + degree;
    return load;
  }

  /// Every lane's vertex proposes until a proposal stands or it has no edges left; then who was displaced
  /// waits.
  __device__ void settle(Load load) {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    tally.entries += static_cast<unsigned>(load.last - load.first);
    const auto shift = static_cast<std::uint32_t>(s.lists.shift);
    bool careful = kCareful == 2 || (kCareful == 1 && load.me.limit != ~Word{0});
    while (load.me.vertex != -1) {
      const Word edge = careful ? open_of<Weights>(s, room, load.first, load.last, load.me)
                        : load.me.limit == ~Word{0}
                            ? first_of<Weights>(room, load.first, load.last, shift)
                            : best_of<Weights>(room, load.first, load.last, load.me.limit, shift);
      if (edge == 0) break;
      load.me.limit = edge;
      careful = true;
      if (vertex_of(edge) == static_cast<std::uint32_t>(load.me.vertex)) continue;  // a loop
      ++tally.proposals;
      if (propose(s, load.me.vertex, edge, load.after)) break;
      ++tally.refused;
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
      warp.settle(warp.stream());
    } else if (warp.waiting != 0) {
      warp.settle(warp.gather());
    } else {
      break;
    }
  }
  tell(s.n, warp.tally);
}

/// The vertices of many edges, and those that they displace, a warp for each.
template <class Weights>
__global__ void __launch_bounds__(kBlock) wide_kernel(Suitor s) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warps = static_cast<int>(gridDim.x) * (kBlock / 32), count = s.n->wide;
  Tally tally;
  const auto any = [](bool yes) { return __any_sync(kAll, yes) != 0; };
  for (int k = static_cast<int>((threadIdx.x / 32) * gridDim.x + blockIdx.x); k < count; k += warps) {
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
