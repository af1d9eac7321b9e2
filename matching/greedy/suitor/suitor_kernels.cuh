#pragma once
/// Suitor (Manne & Halappanavar 2014) on a GPU.
///
/// word[u] holds the best proposal that u has, as a packed word (edge_order.h), so that one 64-bit atomicMax
/// makes a proposal and returns whether it was accepted and which vertex is displaced. The displaced vertex
/// continues below the edge it lost: words only grow, so an edge that was refused once is refused for good. A
/// waiting vertex is thus described by its number and that limit. Under a total order every schedule ends in
/// the same words, those of sorted greedy (suitor.h has the proof).
///
/// A warp copies the lists of 32 consecutive vertices into shared memory, 16 bytes a copy, and each lane
/// searches its vertex's list there; that reads most of the graph once, in order. Vertices that were
/// displaced or refused wait in the warp's queue until there are 32, and their lists are copied in the same
/// way, 8 lanes for each. So lanes are busy although chains differ in length, and nothing waits for the grid.
/// Vertices of many edges are left to a second launch, one warp each, those of very many to a third, one
/// block each; a vertex displaced there is continued by the same threads.
///
/// If most entries belong to vertices of many edges, list_kernel finds these first, and warps take them
/// before the others, all in one launch (merged_kernel), so that the longest do not come last.
///
/// Races: word is only changed by atomicMax and only grows, so a stale value can only cause a proposal that
/// then fails. All other data belongs to one warp or block.

#include "matching/greedy/suitor/suitor_hubs.cuh"

namespace motes::matching::device::suitor {

/// A warp's shared memory.
struct alignas(16) Room {
  Index col[kRoom];
  std::uint32_t weight[kRoom];
  Queue<64> queue;
};

/// The best two of entries [first, last) of the room; 0 = none. Keys alone decide in most cases; columns are
/// then read for these two only.
struct Two {
  Word best = 0, second = 0;
};
template <class Weights>
__device__ inline Two two_of(const Room& room, int first, int last, std::uint32_t shift) {
  const auto edge_of = [&](int i) {
    return pack(Weights::key(Weights::kStored ? room.weight[i] : 0),
                mix(static_cast<std::uint32_t>(room.col[i]) + shift));
  };
  // What entries are compared by; with equal weights the neighbours' mixed numbers, which are distinct.
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

/// The best of entries [first, last) of the room, below the limit and above the floor, whose other end has no
/// better suitor; 0 = none.
template <class Weights, class S>
__device__ inline Word open_of(const S& s, const Room& room, int first, int last, const Waiting& me,
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
      held[d] = wanted ? held_by(s, col) : ~Word{0};
    }
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      if (edge[d] > best && held[d] < pack(key_of(edge[d]), mixed)) best = edge[d];
  }
  return best == floor ? 0 : best;
}

/// The work of a warp: the lists of 32 vertices are copied into the room, and every lane settles its own
/// vertex. kMerged: vertices of many edges were listed before, and are settled in turn.
template <class Weights, class S = Suitor, bool kMerged = false>
struct Warp {
  const S& s;
  Room& room;
  int lane;
  int waiting = 0;    ///< in the room's queue, below 64
  Offset next;        ///< the first vertex of the next 32
  Offset stride;      ///< from those to the next
  Index vertex = -1;  ///< the lane's, of the last 32
  Offset base = 0;    ///< where the first's list begins
  int at = 0;         ///< and where, from there, the lane's does
  int degree = 0;     ///< 0 for vertices of the next launch
  unsigned todo = 0;  ///< lanes whose vertices are not settled yet
  Tally tally{};

  /// Proposes; returns whether it was accepted. Loops are not edges.
  __device__ bool attempt(const Waiting& me, Word edge, Waiting& displaced) {
    if (vertex_of(edge) == static_cast<std::uint32_t>(me.vertex)) return false;
    ++tally.proposals;
    return propose(s, me.vertex, edge, displaced);
  }

  /// What a lane has in the room.
  struct Load {
    Waiting me{0, -1};
    Waiting after{0, -1};  ///< the vertex that waits after that: me, if the room was full
    int first = 0, last = 0;
    Word floor = 0;
  };

  __device__ int rank(unsigned who) const { return __popc(who & ((1U << lane) - 1)); }

  /// Starts copies that settle() waits for. Lists are read once or twice, words again and again, so lists are
  /// the first to be evicted from the cache.
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

  /// Leaves vertices of many edges to the next launch, or settles them at once (kMerged).
  __device__ void postpone(bool is_wide, const Waiting& me) {
    unsigned who = __ballot_sync(kAll, is_wide);
    if (who == 0) return;
    if constexpr (kMerged) {
      for (; who != 0; who &= who - 1) {
        const int from = __ffs(static_cast<int>(who)) - 1;
        settle_alone<Weights>(s, {__shfl_sync(kAll, me.limit, from), __shfl_sync(kAll, me.vertex, from)},
                              lane, tally);
      }
      return;
    }
    int place = 0;
    if (lane == 0) place = atomicAdd(&s.n->wide, __popc(who));
    place = __shfl_sync(kAll, place, 0) + rank(who);
    if (is_wide) s.wide[place] = me;
  }

  /// The next 32 vertices in a row.
  __device__ void advance() {
    vertex = static_cast<Index>(next) + lane;
    Offset begin = 0, end = 0;
    if (next + lane < s.lists.count) {
      begin = s.lists.offsets[next + lane];
      end = s.lists.offsets[next + lane + 1];
    }
    next += stride;
    base = __shfl_sync(kAll, begin, 0);
    const bool is_wide = end - begin >= kWide || end - base >= Offset{1} << 31;
    if constexpr (!kMerged) postpone(is_wide, {~Word{0}, vertex});
    at = static_cast<int>(begin - base);
    degree = is_wide ? 0 : static_cast<int>(end - begin);
    todo = __ballot_sync(kAll, degree > 0);
  }

  /// Copies the lists of all lanes at once, if they are contiguous in memory and fit the room.
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

  /// Copies the lists of all lanes, 8 lanes for each. Returns whether this lane's list had room.
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

  /// Loads up to 32 vertices of the queue; those for which there is no room wait again. Without kFloor all
  /// their edges below the limit count, and their own suitors are not read.
  template <bool kFloor = true>
  __device__ Load queued() {
    const int count = min(waiting, 32);
    waiting -= count;
    Load load;
    Offset source = 0;
    int length = 0;
    bool is_wide = false;
    if (lane < count) {
      load.me = {room.queue.limit[waiting + lane], room.queue.vertex[waiting + lane]};
      source = s.lists.offsets[load.me.vertex];
      const Offset entries = s.lists.offsets[load.me.vertex + 1] - source;
      is_wide = entries >= kWide;
      if (!is_wide) length = static_cast<int>(entries);
    }
    __syncwarp();
    postpone(is_wide, load.me);
    if (is_wide) load.me.vertex = -1;
    if (kFloor && load.me.vertex != -1) load.floor = floor_of(s, load.me);
    if (!gather(source, length, load)) {
      load.after = load.me;
      load.me.vertex = -1;
    }
    return load;
  }

  /// The lanes' vertices propose: new ones along their best edge, else along the second, without reading the
  /// suitor; others along their best open edge. Displaced or refused vertices then wait in the queue, so no
  /// lane waits for one whose vertex is refused repeatedly.
  __device__ void settle(Load load) {
    arrive(load);
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
    wait(load.after);
  }

  /// Waits for the copies.
  __device__ void arrive(const Load& load) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    tally.entries += static_cast<unsigned>(load.last - load.first);
  }

  /// Adds the vertices of the lanes that have one to the queue.
  __device__ void wait(const Waiting& after) { waiting += room.queue.add(waiting, lane, after); }
};

/// Warps of a block take vertices far apart, so that regions of many edges are shared out.
template <class AWarp, class S>
__device__ inline AWarp warp_of(const S& s, Room* rooms) {
  const int me = static_cast<int>(threadIdx.x / 32 * gridDim.x + blockIdx.x);
  return {s, rooms[threadIdx.x / 32], static_cast<int>(threadIdx.x % 32),
          0, Offset{32} * me,         Offset{32} * (kBlock / 32) * gridDim.x};
}

/// Continues while there are vertices to take (`take`: the next 32 of `count`), vertices of these to settle,
/// or vertices in the queue, which are taken when they fill the warp or no other work is left.
template <class W, class Take>
__device__ void work_through(W& warp, Offset count, const Take& take) {
  for (;;) {
    if (warp.waiting < 32 && warp.todo == 0 && warp.next < count) {
      take();
    } else if (warp.waiting < 32 && warp.todo != 0) {
      warp.settle(warp.rest());
    } else if (warp.waiting != 0) {
      warp.settle(warp.queued());
    } else {
      break;
    }
  }
}

template <class Weights>
__global__ void __launch_bounds__(kBlock, kBlocks) suitor_kernel(Suitor s) {
  __shared__ Room rooms[kBlock / 32];
  auto warp = warp_of<Warp<Weights>>(s, rooms);
  work_through(warp, s.lists.count, [&] { warp.advance(); });
  tell(s.n, warp.tally);
}

/// Lists the vertices of many edges; a block adds to the lengths at a time.
__global__ inline void list_kernel(Suitor s) {
  __shared__ int found[3], before[3];
  int* const lengths[3] = {&s.n->wide, &s.n->big, &s.n->hubs};
  for (Offset begin = Offset{blockIdx.x} * blockDim.x; begin < s.lists.count;
       begin += Offset{gridDim.x} * blockDim.x) {
    if (threadIdx.x < 3) found[threadIdx.x] = 0;
    __syncthreads();
    const Offset v = begin + threadIdx.x;
    const Offset degree = v < s.lists.count ? s.lists.offsets[v + 1] - s.lists.offsets[v] : 0;
    const int kind = degree < kWide ? -1 : degree < kBig ? 0 : degree < kHub ? 1 : 2;
    const int mine = kind != -1 ? atomicAdd(found + kind, 1) : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 3; ++k)
      if (threadIdx.x == k && found[k] != 0) before[k] = atomicAdd(lengths[k], found[k]);
    __syncthreads();
    if (kind == -1) continue;
    const int place = before[kind] + mine;
    const Waiting me{~Word{0}, static_cast<Index>(v)};
    if (kind == 0) s.wide[place] = me;
    if (kind == 1) s.wide[s.lists.entries / kWide - place] = me;
    if (kind == 2) s.hubs[place] = me;
  }
}

/// After list_kernel: the vertices of many edges first, the longest before all, then the others, 32 at a time
/// for each warp that has time.
template <class Weights>
__global__ void __launch_bounds__(kBlock, kMergedBlocks) merged_kernel(Suitor s) {
  __shared__ Room rooms[kBlock / 32];
  auto warp = warp_of<Warp<Weights, Suitor, true>>(s, rooms);
  const int wide = s.n->wide, big = s.n->big;
  const auto next = [&] { return next_of(s.n->taken, warp.lane); };
  for (int k = wide + big > 0 ? next() : 0; k < wide + big; k = next())
    settle_alone<Weights>(s, k < big ? s.wide[s.lists.entries / kWide - k] : s.wide[k - big], warp.lane,
                          warp.tally);
  warp.next = 0;
  work_through(warp, s.lists.count, [&] {
    warp.next = Offset{32} * next_of(s.n->chunks, warp.lane);
    if (warp.next < s.lists.count) warp.advance();
  });
  tell(s.n, warp.tally);
}

}  // namespace motes::matching::device::suitor
