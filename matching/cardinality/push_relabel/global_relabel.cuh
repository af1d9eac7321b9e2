#pragma once
/// Global relabelling on the GPU: a breadth-first search from the free columns by the whole grid.
///
/// A frontier is a list of chunks of edges, so that many groups of lanes share a column of many rows. If it
/// is long, the grid goes level by level, with a barrier after each. If not, which is so on most levels of
/// most searches, every block takes a part of it and goes several levels alone, in shared memory: a barrier
/// of a block costs a twentieth of that of the grid. A row that two blocks would reach belongs to the
/// thread that claims it first, so a label is the length of a path found, which is not always the shortest.
/// Little is lost by that, since blocks progress at about the same speed, and nothing becomes wrong: see
/// push_kernels.cuh.
///
/// The search stops once every active row is reached; columns not reached by then keep kUnreached, which
/// reads as one more than the current level. If the search is exhausted instead, it reads as kNoPath.
///
/// The data of a row that a search needs is in one word: until the row is reached, the range of its column's
/// edges on the column side, so that the lane that reaches it can list them without another read; from then
/// on, its level. An atomic minimum of the two leaves the right one. Labels are written to the columns'
/// words afterwards.
///
/// Races. The one lane that changes a row's word from edges to a level lists the edges; a lane that reads
/// an older word tries in vain. Lists are filled in any order, which affects only which maximum matching is
/// found. There are three copies of each counter: in a round, or in a level of a block, one is read, one is
/// added to, one is cleared. The number of active rows that all blocks have reached is read while they add
/// to it: an older value costs one more level. Everything else is written before a barrier and read after
/// it.

#include "matching/cardinality/push_relabel/push_state.cuh"

namespace motes::matching::device::pushing {

/// The lanes of a group visit the rows of kSide chunks, and pass chunks of the columns of the rows that they
/// reach to put(chunk). With `look`, a row is read before it is claimed, which avoids atomics on crowded
/// levels.
template <int kLanes, int kSide, class Put>
__device__ int visit(const Push& p, const EdgeChunk* chunk, unsigned level, bool look, Put&& put) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  int reached = 0, longest = 0;
#pragma unroll
  for (int d = 0; d < kSide; ++d) longest = max(longest, count_of(chunk[d]));
  for (int k = lane; k - lane < longest; k += kLanes) {
    Index row[kSide];
    Word sight[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      row[d] = k < count_of(chunk[d]) ? p.graph.row_index[begin_of(chunk[d]) + k] : -1;
#pragma unroll
    for (int d = 0; d < kSide; ++d) sight[d] = row[d] == -1 ? kGone : kActive;
    if (look) {
#pragma unroll
      for (int d = 0; d < kSide; ++d)
        if (row[d] != -1) sight[d] = __ldcg(p.sight + row[d]);
    }
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      if (sight[d] >= kUnseen) sight[d] = atomicMin(p.sight + row[d], Word{level});
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      if (sight[d] < kUnseen) continue;
      if (sight[d] == kActive) {
        ++reached;
        continue;
      }
      const EdgeChunk edges = sight[d] & ~kUnseen;
      asm volatile("prefetch.global.L2 [%0];" ::"l"(p.graph.row_index + begin_of(edges)));
      for_chunks(edges, put);
    }
  }
  return reached;
}

/// A round in which every block explores its part of the frontier by itself, for up to `hops` levels, in the
/// two halves of its shared memory; what does not fit goes to the grid's list, as part of the last level.
template <class S>
__device__ void search_apart(const Push& p, Shared& shared, const EdgeChunk* from, int frontier,
                             unsigned level, int hops, int wanted, EdgeChunk* list, int* list_count,
                             int* list_reached, int* list_hops) {
  constexpr int kLanes = S::kSearchLanes, kGroups = kBlock / kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int part = (frontier + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
  const int begin = static_cast<int>(blockIdx.x) * part;
  int count = max(0, min(part, frontier - begin)), hop = 0;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += kBlock) shared.chunk[k] = from[begin + k];
  if (threadIdx.x < 3) shared.hop_count[threadIdx.x] = shared.hop_reached[threadIdx.x] = 0;
  __syncthreads();
  while (count > 0) {
    const EdgeChunk* now = shared.chunk + hop % 2 * kHalf;
    EdgeChunk* next = shared.chunk + (hop + 1) % 2 * kHalf;
    int* next_count = shared.hop_count + (hop + 1) % 3;
    int told = 0;
    if (threadIdx.x == 0) told = __ldcg(list_reached);
    const auto put = [&](EdgeChunk chunk) {
      const int place = atomicAdd(next_count, 1);
      if (place < kHalf)
        next[place] = chunk;
      else
        append(chunk, list, list_count);
    };
    int mine = 0;
    const unsigned next_level = level + static_cast<unsigned>(hop) + 1;
    if (count <= kGroups) {
      if (group < count) mine = visit<kLanes, 1>(p, now + group, next_level, false, put);
    } else if (count <= 2 * kGroups) {
      const EdgeChunk some[2] = {now[group], group + kGroups < count ? now[group + kGroups] : 0};
      mine = visit<kLanes, 2>(p, some, next_level, false, put);
    } else {
      for (int k = group; k < count; k += kAside * kGroups) {
        EdgeChunk some[kAside];
#pragma unroll
        for (int d = 0; d < kAside; ++d) some[d] = k + d * kGroups < count ? now[k + d * kGroups] : 0;
        mine += visit<kLanes, kAside>(p, some, next_level, count > kLook, put);
      }
    }
    if (mine > 0) atomicAdd(shared.hop_reached + (hop + 1) % 3, mine);
    if (threadIdx.x == 0) {
      shared.told[hop % 2] = told;
      shared.hop_count[(hop + 2) % 3] = shared.hop_reached[(hop + 2) % 3] = 0;
    }
    __syncthreads();
    ++hop;
    count = min(*next_count, kHalf);
    const int reached = shared.hop_reached[hop % 3];
    if (threadIdx.x == 0 && reached > 0) atomicAdd(list_reached, reached);
    if (hop >= hops || count > 2 * kApart || shared.told[(hop + 1) % 2] + reached >= wanted) break;
  }
  if (threadIdx.x == 0) {
    if (count > 0) shared.base = atomicAdd(list_count, count);
    if (hop > 0) atomicMax(list_hops, hop);
  }
  __syncthreads();
  const EdgeChunk* rest = shared.chunk + hop % 2 * kHalf;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += kBlock) list[shared.base + k] = rest[k];
}

struct Searched {
  unsigned bound;  ///< label of columns not reached
  int levels;
};

/// Labels for all columns that a search reaches before it ends.
template <class S>
__device__ Searched relabel(const cooperative_groups::grid_group& grid, const Push& p, Shared& shared,
                            long long& round, int active_count, const Index* active, PhaseRecord& record) {
  Counters& n = *p.n;
  const bool first = thread_index() == 0;
  const bool peeled = p.peeled();
  const Index cols = peeled ? p.peeling.n->cols_left : p.graph.cols;
  for (Index k = thread_index(); k < cols; k += thread_total()) {
    const Index j = peeled ? p.cols_left[k] : k, row = row_of(p.word[j]);
    const Offset begin = p.graph.col_offsets[j];
    const EdgeChunk edges = stretch_of(begin, p.graph.col_offsets[j + 1] - begin);
    if (row != -1)
      p.sight[row] = kUnseen | edges;
    else
      for_chunks(edges, [&](EdgeChunk chunk) {
        stage(shared, chunk, p.frontier[round % 2], n.frontier + round % 3);
      });
  }
  for (int k = thread_index(); k < active_count; k += thread_total()) p.sight[active[k]] = kActive;
  unstage(shared, p.frontier[round % 2], n.frontier + round % 3, n.reached + round % 3);
  grid.sync();
  unsigned level = 0;
  int reached = 0;
  for (;; ++round) {
    const int count = n.frontier[round % 3];
    reached += n.reached[round % 3];
    level += static_cast<unsigned>(n.hops[round % 3]);
    if (count == 0 || reached >= active_count) break;
    const EdgeChunk* now = p.frontier[round % 2];
    EdgeChunk* next = p.frontier[(round + 1) % 2];
    int* next_count = n.frontier + (round + 1) % 3;
    int* next_reached = n.reached + (round + 1) % 3;
    int* next_hops = n.hops + (round + 1) % 3;
    if (first) n.frontier[(round + 2) % 3] = n.reached[(round + 2) % 3] = n.hops[(round + 2) % 3] = 0;
    if (count <= kApart * static_cast<int>(gridDim.x)) {
      search_apart<S>(p, shared, now, count, level, count <= kThin ? kThinHops : kHops,
                      active_count - reached, next, next_count, next_reached, next_hops);
    } else {
      if (first) *next_hops = 1;
      int mine = 0;
      const int groups = thread_total() / S::kSearchLanes;
      for (int k = thread_index() / S::kSearchLanes; k < count; k += kAside * groups) {
        EdgeChunk some[kAside];
#pragma unroll
        for (int d = 0; d < kAside; ++d) some[d] = k + d * groups < count ? now[k + d * groups] : 0;
        mine += visit<S::kSearchLanes, kAside>(
            p, some, level + 1, true, [&](EdgeChunk chunk) { stage(shared, chunk, next, next_count); });
      }
      if (mine > 0) atomicAdd(&shared.reached, mine);
      unstage(shared, next, next_count, next_reached);
    }
    grid.sync();
  }
  const bool early = n.frontier[round % 3] != 0;
  if (first) {
    // The next search begins a new round with empty lists.
    n.frontier[(round + 1) % 3] = n.frontier[(round + 2) % 3] = 0;
    n.reached[(round + 1) % 3] = n.reached[(round + 2) % 3] = 0;
    n.hops[(round + 1) % 3] = n.hops[(round + 2) % 3] = 0;
    record.reached = reached;
    record.levels += static_cast<int>(level);
  }
  for (Index k = thread_index(); k < cols; k += thread_total()) {
    const Index j = peeled ? p.cols_left[k] : k, row = row_of(p.word[j]);
    const Word sight = row == -1 ? 0 : __ldcg(p.sight + row);
    p.word[j] = word_of(sight < kUnseen ? static_cast<unsigned>(sight) : kUnreached, row);
  }
  grid.sync();
  ++round;
  return {early ? level + 1 : kNoPath, static_cast<int>(level)};
}

}  // namespace motes::matching::device::pushing
