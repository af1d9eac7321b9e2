#pragma once
/// What comes before the suitors of a general graph on a GPU: pairs who are each other's best neighbour.
///
/// Such a pair comes before all other edges of both, so it is in the dominant matching, and more than half of
/// a graph's vertices may be in one. All best neighbours are found in one read of the graph, in order, and
/// two vertices agree by one read of four bytes; an atomicMax on words that do not fit the cache costs
/// several times that. The second best are kept too: those who are left are suitors
/// (suitor_kernels.cuh) that need no list for their first two proposals, and one bit tells them of a vertex
/// that it is taken.
///
/// Races: each launch writes what its own vertices have and reads what the launch before has left, but for
/// late_kernel, which has the words of suitors.

#include "matching/greedy/suitor_kernels.cuh"

namespace motes::matching::device::suitor {

/// What the vertices want.
struct Choices {
  Index* first;        ///< [vertices] the best neighbour, -1 = none
  std::uint32_t* key;  ///< [vertices] of the edge to the first; 0 = wide, or without edges
  Word* second;        ///< [vertices] the edge behind it, as the vertex sees it; 0 = none is known
  unsigned* taken;     ///< [vertices / 32] bits: the vertex is in a pair of two who chose each other
};

__device__ inline bool is_taken(const Choices& choices, std::uint32_t vertex) {
  return (__ldg(choices.taken + vertex / 32) >> vertex % 32 & 1U) != 0;
}

/// All vertices' best two neighbours; wide vertices choose none.
template <class Weights>
__global__ void __launch_bounds__(kBlock, kBlocks) choose_kernel(Suitor s, Choices choices) {
  __shared__ Room rooms[kBlock / 32];
  auto warp = warp_of<Warp<Weights>>(s, rooms);
  while (warp.next < s.lists.count) {
    warp.advance();
    if (warp.degree == 0 && warp.vertex < s.lists.count) {
      choices.first[warp.vertex] = -1;
      choices.key[warp.vertex] = 0;
    }
    while (warp.todo != 0) {
      const auto load = warp.rest();
      warp.arrive(load);
      const Index v = load.me.vertex;
      if (v != -1) {
        Two two = two_of<Weights>(warp.room, load.first, load.last, 0);
        const auto is_loop = [&](Word edge) { return vertex_of(edge) == static_cast<std::uint32_t>(v); };
        if (is_loop(two.best)) two = {two.second, 0};
        choices.first[v] = two.best != 0 ? static_cast<Index>(vertex_of(two.best)) : -1;
        choices.key[v] = key_of(two.best);
        choices.second[v] = is_loop(two.second) ? 0 : two.second;
      }
      __syncwarp();
    }
  }
  tell(s.n, warp.tally);
}

/// Takes those who chose each other, and begins the words with them.
__global__ inline void agree_kernel(Suitor s, Choices choices) {
  for (Offset v = Offset{blockIdx.x} * blockDim.x + threadIdx.x; v - threadIdx.x % 32 < s.lists.count;
       v += Offset{gridDim.x} * blockDim.x) {
    const bool is_vertex = v < s.lists.count;
    const Index first = is_vertex ? choices.first[v] : -1;
    const bool taken = first != -1 && __ldcg(choices.first + first) == static_cast<Index>(v);
    const unsigned all = __ballot_sync(kAll, taken);
    if (threadIdx.x % 32 == 0) choices.taken[v / 32] = all;
    if (is_vertex) s.word[v] = taken ? pack(choices.key[v], mix(static_cast<std::uint32_t>(first))) : 0;
  }
}

/// A warp that has the choices for its vertices' first proposals.
template <class Weights>
struct LateWarp : Warp<Weights> {
  /// Proposals of the next 32 vertices that nobody has taken.
  __device__ void begin(const Choices& choices) {
    const Offset v = this->next + this->lane;
    this->next += this->stride;
    Waiting after{0, -1};
    if (v < this->s.lists.count && !is_taken(choices, static_cast<std::uint32_t>(v)) && choices.key[v] != 0)
      after = first_proposal(choices, static_cast<Index>(v));
    this->wait(after);
  }

  /// Who has to look on after it: those whom it displaced, or the vertex.
  __device__ Waiting first_proposal(const Choices& choices, Index v) {
    const Index first = choices.first[v];
    const Word second = choices.second[v];
    Waiting me{~Word{0}, v}, displaced{0, -1};
    if (first != -1) {
      const Word edge = pack(choices.key[v], mix(static_cast<std::uint32_t>(first)));
      if (!is_taken(choices, static_cast<std::uint32_t>(first)) && this->attempt(me, edge, displaced))
        return displaced;
      me.limit = edge;
      if (second != 0 && !is_taken(choices, vertex_of(second)) && this->attempt(me, second, displaced))
        return displaced;
    }
    if (second != 0) me.limit = second;
    return me;
  }

  /// The best open edge of each lane's vertex.
  __device__ void look(const Choices& choices, typename Warp<Weights>::Load load) {
    this->arrive(load);
    const Waiting& me = load.me;
    if (me.vertex != -1) {
      const Word edge = open_of<Weights>(this->s, this->room, load.first, load.last, me, load.floor,
                                         [&](std::uint32_t u) { return is_taken(choices, u); });
      if (edge != 0 && !this->attempt(me, edge, load.after)) load.after = {edge, me.vertex};
    }
    this->wait(load.after);
  }
};

/// Suitors of those who are left; words have been begun with the pairs.
template <class Weights>
__global__ void __launch_bounds__(kBlock, kBlocks) late_kernel(Suitor s, Choices choices) {
  __shared__ Room rooms[kBlock / 32];
  auto warp = warp_of<LateWarp<Weights>>(s, rooms);
  for (;;) {
    if (warp.waiting < 32 && warp.next < s.lists.count) {
      warp.begin(choices);
    } else if (warp.waiting != 0) {
      warp.look(choices, warp.template queued<false>());
    } else {
      break;
    }
  }
  tell(s.n, warp.tally);
}

}  // namespace motes::matching::device::suitor
