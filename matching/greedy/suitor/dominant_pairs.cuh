#pragma once
/// The first step of Suitor for general graphs on a GPU: pairs of vertices that are each other's best
/// neighbour.
///
/// Such a pair precedes all other edges of both vertices, so it is in the dominant matching, and about half
/// of a graph's vertices are in one. One sequential read of the graph finds all best neighbours, and two
/// vertices agree by one read of four bytes; an atomicMax on words that do not fit the cache would cost
/// several times that. The best four edges of each vertex are kept, in the 32 bytes of one memory sector:
/// the remaining vertices propose along these and need no list. One bit tells whether a vertex remains, and
/// the number of those before it gives the position of its word, so that words are close together. A vertex
/// reads its list only if its four best neighbours are all in pairs or reject it.
///
/// Races: each launch writes data of its own vertices and reads what the launch before has left, except for
/// chase_kernel and late_kernel, which use the words of suitors.

#include "matching/greedy/suitor/suitor_kernels.cuh"

namespace motes::matching::device::suitor {

constexpr int kKept = 4;  ///< edges of a vertex
constexpr int kAgreeBlock = 256, kAgreeChunk = 1024;
constexpr int kChaseBlock = 256, kChaseBlocks = 8;

/// The best edges of a vertex, best first, but for the column of the first.
struct alignas(32) Kept {
  std::uint32_t key[kKept];  ///< 0 = there is no such edge; the first is 0 of wide vertices too
  Index col[kKept - 1];
  std::uint32_t more;  ///< whether the list holds others
};
static_assert(sizeof(Kept) == 32);

/// The choices of all vertices.
struct Choices {
  Index* first;   ///< [vertices] the best neighbour, -1 = none or wide
  Kept* kept;     ///< [vertices]
  Left* left;     ///< [vertices / 32 + 1] vertices in no pair of two that chose each other
  Waiting* open;  ///< [vertices + page * warps] vertices that have to look through their list, in pages, each
                  ///< a warp's
  int page;       ///< entries of a page, from 32 on; the last ones may be unused
  int warps;      ///< of chase_kernel; page k is the first of warp k
};

/// Where a warp lists vertices for the next launch: it takes a page at a time, so that warps rarely contend.
struct Page {
  Waiting* at = nullptr;
  int used = 0;

  __device__ void add(bool is_in, const Waiting& me, int lane, const Suitor& s, const Choices& choices) {
    const unsigned who = __ballot_sync(kAll, is_in);
    const int place = used + __popc(who & ((1U << lane) - 1));
    used += __popc(who);
    if (is_in && place < choices.page) at[place] = me;
    if (used < choices.page) return;
    int page = 0;
    if (lane == 0) page = choices.warps + atomicAdd(&s.n->pages, 1);
    page = __shfl_sync(kAll, page, 0);
    at = choices.open + static_cast<std::size_t>(page) * choices.page;
    used -= choices.page;
    if (is_in && place >= choices.page) at[place - choices.page] = me;
  }
  __device__ void close(int lane, const Choices& choices) {
    for (int k = used + lane; k < choices.page; k += 32) at[k] = {0, -1};
  }
};

__device__ inline void order(std::uint32_t& greater, std::uint32_t& less) {
  const std::uint32_t both[] = {max(greater, less), min(greater, less)};
  greater = both[0];
  less = both[1];
}

/// Merges four numbers into the greatest five so far, in falling order from top[0]; `at_first`: there are
/// none yet.
__device__ inline void add_four(std::uint32_t (&four)[kKept], bool at_first,
                                std::uint32_t (&top)[kKept + 1]) {
  static_assert(kKept == 4);
  order(four[0], four[1]);
  order(four[2], four[3]);
  order(four[0], four[2]);
  order(four[1], four[3]);
  order(four[1], four[2]);
  if (at_first) {
#pragma unroll
    for (int k = 0; k < kKept; ++k) top[k] = four[k];
    return;
  }
#pragma unroll
  for (int k = 0; k < kKept; ++k) {  // the greatest four of both: a bitonic sequence
    order(top[k], four[kKept - 1 - k]);
    top[kKept] = max(top[kKept], four[kKept - 1 - k]);
  }
  order(top[0], top[2]);
  order(top[1], top[3]);
  order(top[0], top[1]);
  order(top[2], top[3]);
}

/// The best edges of entries [first, last) of the room, fewer than 64, and the column of the best. Entries
/// are compared by 26 leading bits, with their position in the other six; by whole words only if that does
/// not decide.
template <class Weights>
__device__ inline Kept best_of(const Room& room, int first, int last, Index vertex, Index& best) {
  static_assert(kWide <= 64);
  Kept kept{};
  kept.more = last - first > kKept ? 1 : 0;
  const auto mixed_of = [&](int i) { return mix(static_cast<std::uint32_t>(room.col[i])); };
  const auto key_at = [&](int i) { return Weights::key(Weights::kStored ? room.weight[i] : 0); };
  std::uint32_t top[kKept + 1] = {};
  for (int i = first; i < last; i += kKept) {
    std::uint32_t four[kKept];
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      four[k] = 0;
      if (i + k >= last) continue;
      four[k] = Weights::kStored ? Weights::coarse(room.weight[i + k]) : mixed_of(i + k);
      four[k] = (four[k] & ~63U) | static_cast<std::uint32_t>(i + k - first + 1);
    }
    add_four(four, i == first, top);
  }
  bool exact = true;
  Index col[kKept];
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = first + static_cast<int>(top[k] & 63) - 1;
    const bool is_edge = top[k] != 0;
    col[k] = is_edge ? room.col[i] : -1;
    kept.key[k] = is_edge ? key_at(i) : 0;
    exact = exact && col[k] != vertex && (top[k + 1] == 0 || (top[k] ^ top[k + 1]) >= 64);
  }
  if (!exact) {
    Word edges[kKept] = {};
    for (int i = first; i < last; ++i) {
      Word edge = room.col[i] != vertex ? pack(key_at(i), mixed_of(i)) : 0;
#pragma unroll
      for (int k = 0; k < kKept; ++k) {
        const Word less = min(edges[k], edge);
        edges[k] = max(edges[k], edge);
        edge = less;
      }
    }
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      kept.key[k] = key_of(edges[k]);
      col[k] = edges[k] != 0 ? static_cast<Index>(vertex_of(edges[k])) : -1;
    }
  }
  best = col[0];
#pragma unroll
  for (int k = 1; k < kKept; ++k) kept.col[k - 1] = col[k];
  return kept;
}

/// Writes what lanes keep of 32 vertices in a row, two lanes for each 32 bytes.
__device__ inline void store(const Choices& choices, const Kept& kept, Index vertex, Index count) {
  const bool odd = vertex % 2 != 0;
  const uint4 front = make_uint4(kept.key[0], kept.key[1], kept.key[2], kept.key[3]);
  const uint4 back =
      make_uint4(static_cast<std::uint32_t>(kept.col[0]), static_cast<std::uint32_t>(kept.col[1]),
                 static_cast<std::uint32_t>(kept.col[2]), kept.more);
  uint4 other = odd ? front : back;  // of the vertex beside
  other.x = __shfl_xor_sync(kAll, other.x, 1);
  other.y = __shfl_xor_sync(kAll, other.y, 1);
  other.z = __shfl_xor_sync(kAll, other.z, 1);
  other.w = __shfl_xor_sync(kAll, other.w, 1);
  const Index even = vertex - (odd ? 1 : 0);
  uint4* to = reinterpret_cast<uint4*>(choices.kept + even) + (odd ? 1 : 0);
  if (even < count) to[0] = odd ? other : front;
  if (even + 1 < count) to[2] = odd ? back : other;
}

/// Finds all vertices' best edges; wide vertices choose none.
template <class Weights>
__global__ void __launch_bounds__(kBlock, kBlocks) choose_kernel(Suitor s, Choices choices) {
  __shared__ Room rooms[kBlock / 32];
  auto warp = warp_of<Warp<Weights>>(s, rooms);
  while (warp.next < s.lists.count) {
    warp.advance();
    Kept kept{};
    Index best = -1;
    while (warp.todo != 0) {
      const auto load = warp.rest();
      warp.arrive(load);
      if (load.me.vertex != -1)
        kept = best_of<Weights>(warp.room, load.first, load.last, load.me.vertex, best);
      __syncwarp();
    }
    if (warp.vertex < s.lists.count) choices.first[warp.vertex] = best;
    store(choices, kept, warp.vertex, s.lists.count);
  }
  tell(s.n, warp.tally);
}

/// Determines which vertices are left: all that did not choose each other. Launched once for each range [low,
/// high) of first choices, small enough for the cache, and with kLast for the last range, which also
/// initialises the words. Until then `who` of Left holds the vertices in pairs.
template <bool kLast>
__global__ void __launch_bounds__(kAgreeBlock)
    agree_kernel(Suitor s, Choices choices, Index low, Index high) {
  constexpr int kTurns = kAgreeChunk / kAgreeBlock;
  static_assert(kAgreeChunk == 32 * 32);  // a warp has a word of Left each
  __shared__ unsigned pairs[32];
  __shared__ int begin_of_words, words;
  const int me = static_cast<int>(threadIdx.x);
  for (Offset begin = Offset{kAgreeChunk} * blockIdx.x; begin < s.lists.count;
       begin += Offset{kAgreeChunk} * gridDim.x) {
    Index first[kTurns], theirs[kTurns];
#pragma unroll
    for (int k = 0; k < kTurns; ++k) {
      const Offset v = begin + k * kAgreeBlock + me;
      first[k] = v < s.lists.count ? choices.first[v] : -1;
    }
#pragma unroll
    for (int k = 0; k < kTurns; ++k) {
      const bool is_asked = first[k] >= low && first[k] < high;
      theirs[k] = is_asked ? __ldcg(choices.first + first[k]) : -1;
    }
#pragma unroll
    for (int k = 0; k < kTurns; ++k) {
      const Offset at = k * kAgreeBlock + me;
      const unsigned who = __ballot_sync(kAll, theirs[k] == static_cast<Index>(begin + at));
      if (me % 32 == 0) pairs[at / 32] = who;
    }
    __syncthreads();
    const Offset at = begin / 32 + me;
    if (me < 32) {
      const bool is_there = at * 32 < s.lists.count;
      unsigned who = pairs[me];
      if (low > 0 && is_there) who |= choices.left[at].who;
      if constexpr (kLast) {
        const Offset vertices = s.lists.count - at * 32;
        who = !is_there ? 0 : ~who & (vertices >= 32 ? kAll : (1U << vertices) - 1);
        int place = __popc(who);
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
          const int before = __shfl_up_sync(kAll, place, step);
          if (me >= step) place += before;
        }
        if (me == 31) {
          words = place;
          begin_of_words = atomicAdd(&s.n->left, place);
        }
        __syncwarp();
        if (is_there) choices.left[at] = {who, begin_of_words + place - __popc(who)};
      } else if (is_there) {
        choices.left[at].who = who;
      }
    }
    __syncthreads();
    if constexpr (kLast) {
      for (int k = me; k < words; k += kAgreeBlock) s.word[begin_of_words + k] = 0;
      __syncthreads();
    }
  }
}

/// One proposal of a vertex along the best edge that it has kept, that is below its limit and leads to a
/// vertex that is left. Returns the vertex that continues: the displaced one, or itself below that edge. If
/// it has kept no such edge, it must read its list (has_to_look), unless the list holds no others.
__device__ inline Waiting chase(const SuitorOfLeft& s, const Choices& choices, Waiting& me, Tally& tally,
                                bool& has_to_look) {
  const auto* kept = reinterpret_cast<const uint4*>(choices.kept + me.vertex);
  const uint4 keys = __ldg(kept), rest = __ldg(kept + 1);
  const std::uint32_t key[kKept] = {keys.x, keys.y, keys.z, keys.w};
  const std::uint32_t col[kKept] = {static_cast<std::uint32_t>(__ldg(choices.first + me.vertex)), rest.x,
                                    rest.y, rest.z};
  const auto edge_of = [&](int k) { return pack(key[k], mix(col[k])); };
  Word edge = 0;
  int place = -1;
#pragma unroll
  for (int half = 0; half < kKept && place == -1; half += kKept / 2) {
    int places[kKept / 2];
#pragma unroll
    for (int k = 0; k < kKept / 2; ++k)
      places[k] = key[half + k] != 0 && edge_of(half + k) < me.limit ? place_of(s, col[half + k]) : -1;
#pragma unroll
    for (int k = kKept / 2 - 1; k >= 0; --k)
      if (places[k] != -1) {
        edge = edge_of(half + k);
        place = places[k];
      }
  }
  Waiting after{edge, me.vertex};
  if (place == -1) {
    has_to_look = rest.w != 0;
    me.limit = min(me.limit, edge_of(kKept - 1));
    return {0, -1};
  }
  ++tally.proposals;
  propose(s, me.vertex, edge, place, after);
  return after;
}

/// Proposals of the vertices that are left, along the edges kept. Wide vertices have kept none and propose in
/// a later launch.
__global__ inline void __launch_bounds__(kChaseBlock, kChaseBlocks)
    chase_kernel(SuitorOfLeft s, Choices choices) {
  __shared__ Queue<128> queues[kChaseBlock / 32];
  auto& queue = queues[threadIdx.x / 32];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Offset stride = Offset{64} * (kChaseBlock / 32) * gridDim.x;
  Offset next = Offset{64} * (threadIdx.x / 32 * gridDim.x + blockIdx.x);
  const int warp = static_cast<int>(blockIdx.x * (kChaseBlock / 32) + threadIdx.x / 32);
  Page page{choices.open + static_cast<std::size_t>(warp) * choices.page};
  int waiting = 0;
  Tally tally;
  for (;;) {
    if (waiting < 32 && next < s.lists.count) {
      for (Offset v = next + lane; v < next + 64; v += 32) {
        const bool is_left = v < s.lists.count && (choices.left[v / 32].who >> v % 32 & 1U) != 0;
        waiting += queue.add(waiting, lane, {~Word{0}, is_left ? static_cast<Index>(v) : -1});
      }
      next += stride;
    } else if (waiting != 0) {
      const int count = min(waiting, 32);
      waiting -= count;
      Waiting me{0, -1}, after{0, -1};
      if (lane < count) me = {queue.limit[waiting + lane], queue.vertex[waiting + lane]};
      bool has_to_look = false;
      if (me.vertex != -1) after = chase(s, choices, me, tally, has_to_look);
      page.add(has_to_look, me, lane, s, choices);
      waiting += queue.add(waiting, lane, after);
    } else {
      break;
    }
  }
  page.close(lane, choices);
  tell(s.n, tally);
}

/// Proposals of the vertices that chase_kernel listed, along edges below their limits. A vertex may propose
/// to one that is not left, which rejects it.
template <class Weights>
__global__ void __launch_bounds__(kBlock, kBlocks) late_kernel(SuitorOfLeft s, Choices choices) {
  __shared__ Room rooms[kBlock / 32];
  auto warp = warp_of<Warp<Weights, SuitorOfLeft>>(s, rooms);
  const Offset count = Offset{choices.page} * (choices.warps + s.n->pages);
  for (;;) {
    if (warp.waiting < 32 && warp.next < count) {
      const Offset k = warp.next + warp.lane;
      warp.next += warp.stride;
      warp.wait(k < count ? choices.open[k] : Waiting{0, -1});
    } else if (warp.waiting != 0) {
      warp.settle(warp.template queued<false>());
    } else {
      break;
    }
  }
  tell(s.n, warp.tally);
}

}  // namespace motes::matching::device::suitor
