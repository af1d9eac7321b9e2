#pragma once
/// Push-relabel on the GPU, with the words and the rule of distance_labels.h: all phases in one cooperative
/// kernel.
///
/// Every column keeps its label and its row in one 64-bit word. A group of lanes follows a chain: its row
/// takes the column of least label by one compare-and-exchange, and the displaced row continues in the same
/// lanes, until a column was free, no column has a path, or the chain has used up its share of pushes.
/// Labels are raised as in an auction, to one more than the row's second least. A chain that has used up
/// its share waits for the next phase, before which a search from the free columns recomputes all labels
/// (global_relabel.cuh).
///
/// Latency. A chain is a sequence of dependent reads of distant memory. So the first columns of each row
/// are stored in a table at the row's own place, and while a row takes a column, the columns of the row
/// that it would displace are already read. These values may be older than the push just made, but the
/// lanes that made it know its result. Chains share a warp only if there are more of them than warps.
///
/// What labels prove. A search leaves lengths of paths that need not be the shortest, so labels are not
/// lower bounds, and a row is not given up because of a large label. It is given up for kNoPath only. A
/// column gets kNoPath if an exhausted search has not reached it, or if it is taken by a row whose other
/// columns all have kNoPath: in both cases no alternating path leads from it to a free column, and that
/// remains so. Every column reached has a row with another column of lesser label, so a single chain walks
/// down to a free column. Hence a phase that ends no chain is followed by one with a larger share and,
/// after some, with fewer chains, at last a single one; so the phases end.
///
/// Races. While chains run, words of columns change only by compare-and-exchange, which fails if the word
/// read is out of date. A label computed from outdated words is at worst too small. kNoPath is final.
/// Everything else is written before a barrier of the grid and read after it.

#include "matching/cardinality/push_relabel/global_relabel.cuh"

namespace motes::matching::device::pushing {

template <int kLanes>
__device__ unsigned group_min(unsigned value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) value = min(value, __shfl_xor_sync(kAll, value, step));
  return value;
}

/// The columns of a row that are in one lane of a group.
template <class S>
struct Look {
  static constexpr int kEach = S::kEach;
  Index col[kEach];  ///< -1: none
  Word word[kEach];

  /// The row's near columns; none for row -1.
  __device__ void list(const Push& p, Index row, int lane) {
    if (row == -1) {
#pragma unroll
      for (int d = 0; d < kEach; ++d) col[d] = -1;
      return;
    }
    const Index* near = p.near + Offset{row} * S::kNear + kEach * lane;
    if constexpr (kEach == 4) {
      const int4 all = *reinterpret_cast<const int4*>(near);
      col[0] = all.x, col[1] = all.y, col[2] = all.z, col[3] = all.w;
    } else if constexpr (kEach == 2) {
      const int2 both = *reinterpret_cast<const int2*>(near);
      col[0] = both.x, col[1] = both.y;
    } else {
      col[0] = *near;
    }
  }
  __device__ void read(const Push& p) {
#pragma unroll
    for (int d = 0; d < kEach; ++d) word[d] = col[d] < 0 ? word_of(kNoPath, -1) : __ldcg(p.word + col[d]);
  }
};

/// The least label a lane has seen, and the least of the others.
struct Choice {
  unsigned best = kUnreached, second = kUnreached;
  Index col = -1;
  Word seen = 0;
  __device__ void take(Index j, Word word, unsigned bound) {
    const unsigned label = label_of(word) == kUnreached ? bound : label_of(word);
    if (label < best) {
      second = best;
      best = label;
      col = j;
      seen = word;
    } else {
      second = min(second, label);
    }
  }
};

/// The columns of a row beyond the near ones, from the list of edges. The lanes of a group call it together.
template <class S>
__device__ __forceinline__ void look_beyond(const Push& p, unsigned bound, unsigned mask, int lane, Index row,
                                            Choice& mine, int& edges) {
  constexpr int kLanes = S::kLanes;
  const Offset begin = p.graph.row_offsets[row] + S::kNear - 1, end = p.graph.row_offsets[row + 1];
  for (Offset e = begin + lane; e - lane < end; e += 2 * kLanes) {
    Index j[2];
    Word word[2];
#pragma unroll
    for (int d = 0; d < 2; ++d) j[d] = e + d * kLanes < end ? p.graph.col_index[e + d * kLanes] : -1;
#pragma unroll
    for (int d = 0; d < 2; ++d) {
      word[d] = j[d] == -1 ? word_of(kNoPath, -1) : __ldcg(p.word + j[d]);
      edges += j[d] >= 0 ? 1 : 0;
    }
#pragma unroll
    for (int d = 0; d < 2; ++d) mine.take(j[d], word[d], bound);
    // Labels are not below a free column's; in a long row the second least is then left at no more than is
    // seen.
    if (end - begin > 4 * kLanes && __any_sync(mask, mine.best == 0)) {
      mine.second = 0;
      break;
    }
  }
}

/// Ends the chain of a row that cannot push: it has no path, or waits for the next phase. Called by one lane.
__device__ __forceinline__ void end_chain(const Push& p, Index row, unsigned least, Index* left,
                                          int* left_count) {
  if (least >= kNoPath)
    p.sight[row] = kGone;
  else
    left[atomicAdd(left_count, 1)] = row;
}

/// Adds the counters of a warp's lanes to the phase's record.
__device__ __forceinline__ void record_chains(const Push& p, int pushes, int steps, int edges,
                                              PhaseRecord& record) {
  edges = static_cast<int>(__reduce_add_sync(kAll, edges));
  pushes = static_cast<int>(__reduce_add_sync(kAll, pushes));
  if (threadIdx.x % kWarp == 0 && steps > 0) {
    atomicAdd(&record.pushes, static_cast<unsigned long long>(pushes));
    atomicMax(&record.longest, steps);
    atomicAdd(&p.n->edges, static_cast<unsigned long long>(edges));
  }
}

/// Follows chains until each has ended or used up its share. The groups of a warp proceed in step; if there
/// are few chains, each has a warp.
template <class S>
__device__ void push_chains(const Push& p, unsigned bound, int share, const Index* active, int active_count,
                            int* head, Index* left, int* left_count, PhaseRecord& record) {
  constexpr int kLanes = S::kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned first_lane = threadIdx.x % kWarp / kLanes * kLanes;
  const unsigned mask = kLanes == kWarp ? kAll : ((1U << kLanes) - 1) << first_lane;
  const unsigned limit = static_cast<unsigned>(min(p.graph.rows, p.graph.cols)) + 1;
  Index row = -1;
  Look<S> look;
  look.list(p, -1, lane);
  look.read(p);
  Index last_col =
      -1;  // taken by this group while it read the next columns: its value of this one may be outdated
  Word last_word = 0;
  bool more = static_cast<int>(first_lane / kLanes) * (thread_total() / kWarp) < active_count;
  int pushes = 0, room = 0, steps = 0, edges = 0;
  for (;; ++steps) {
    if (row == -1 && more) {
      int k = 0;
      if (lane == 0) k = atomicAdd(head, 1);
      k = __shfl_sync(mask, k, static_cast<int>(first_lane));
      more = k < active_count;
      if (more) {
        row = active[k];
        look.list(p, row, lane);
        look.read(p);
        last_col = -1;
        room = share;
      }
    }
    if (!__any_sync(kAll, row != -1)) break;
    Choice mine;
#pragma unroll
    for (int d = 0; d < Look<S>::kEach; ++d) {
      mine.take(look.col[d], look.col[d] == last_col && last_col != -1 ? last_word : look.word[d], bound);
      edges += look.col[d] >= 0 ? 1 : 0;
    }
    if (__any_sync(mask, look.col[Look<S>::kEach - 1] == kMore))
      look_beyond<S>(p, bound, mask, lane, row, mine, edges);
    __syncwarp();
    const unsigned least = group_min<kLanes>(mine.best);
    const int winner = __ffs(static_cast<int>(__ballot_sync(kAll, mine.best == least) & mask)) - 1;
    const bool wins = winner == static_cast<int>(threadIdx.x % kWarp);
    const unsigned runner_up = group_min<kLanes>(wins ? mine.second : mine.best);
    const Index owner = __shfl_sync(kAll, row_of(mine.seen), winner);
    const Word raised = word_of(runner_up < kNoPath ? runner_up + 1 : kNoPath, row);
    Word found = ~mine.seen;
    if (wins && row != -1 && least < limit) found = atomicCAS(p.word + mine.col, mine.seen, raised);
    // Read during the exchange: the columns that the chain needs next if it succeeds.
    Look<S> ahead;
    ahead.list(p, row == -1 || least >= limit ? -1 : owner, lane);
    ahead.read(p);
    const bool taken = __shfl_sync(kAll, static_cast<int>(found == mine.seen), winner) != 0;
    const Index col = __shfl_sync(kAll, mine.col, winner);
    if (row == -1) continue;
    if (least >= limit) {
      if (lane == 0) end_chain(p, row, least, left, left_count);
      row = -1;
    } else if (taken) {
      ++pushes;
      row = owner;
      look = ahead;
      last_col = col;
      last_word = raised;
      if (row != -1 && --room == 0) {
        if (lane == 0) left[atomicAdd(left_count, 1)] = row;
        row = -1;
      }
    } else {
      look.read(p);
      last_col = -1;
    }
    if (row == -1) look.list(p, -1, lane);
  }
  record_chains(p, lane == 0 ? pushes : 0, steps, edges, record);
}

/// The whole solve. On entry, words hold the columns' rows in the start, active rows are listed, and other
/// free rows are kGone. If the graph was peeled, its removed rows are kGone and its removed columns kNoPath
/// throughout.
template <class S>
__global__ void __launch_bounds__(kBlock, 1) push_relabel_kernel(Push p) {
  extern __shared__ EdgeChunk memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const auto grid = cooperative_groups::this_grid();
  Counters& n = *p.n;
  const bool first = thread_index() == 0;
  unsigned long long clock = nanoseconds();
  const auto lap = [&] {
    const unsigned long long now = nanoseconds(), spent = now - clock;
    clock = now;
    return spent;
  };
  if (threadIdx.x == 0) shared.count = shared.reached = 0;
  grid.sync();
  long long round = 0;
  int phase = 0, stalls = 0;
  for (;; ++phase) {
    const int active_count = n.active[phase % 3];
    if (active_count == 0) break;
    PhaseRecord& record = n.record[min(phase, kRecords - 1)];
    const Index* active = p.active[phase % 2];
    const Searched searched = relabel<S>(grid, p, shared, round, active_count, active, record);
    if (first) {
      n.active[(phase + 2) % 3] = n.head[(phase + 1) % 2] = 0;
      record.active = active_count;
      record.relabel_ns += lap();
    }
    // Enough for the longest path. If no chain has ended, the share grows, and later there are fewer chains,
    // at last one alone.
    const auto share = static_cast<int>(
        min(Offset{p.chain > 0 ? p.chain : kShare + searched.levels} << stalls, Offset{1} << 30));
    const int pushed = max(1, active_count >> max(0, stalls - kPatience));
    int* left_count = n.active + (phase + 1) % 3;
    Index* left = p.active[(phase + 1) % 2];
    for (int k = pushed + thread_index(); k < active_count; k += thread_total())
      left[atomicAdd(left_count, 1)] = active[k];
    push_chains<S>(p, searched.bound, share, active, pushed, n.head + phase % 2, left, left_count, record);
    grid.sync();
    if (first) record.push_ns += lap();
    stalls = *left_count == active_count ? min(stalls + 1, 30) : 0;
  }
  if (first) n.phases = phase;
}

}  // namespace motes::matching::device::pushing
