#pragma once
/// Push-relabel on the GPU: labels.h's words and rule, all phases in one cooperative kernel.
///
/// Every column keeps its label and its row in one 64-bit word. A group of lanes follows a chain: its row
/// takes the column of least label by one compare-and-exchange, and the row displaced goes on in the same
/// lanes, until a column was free, no column has a path, or the chain has had its share of pushes. Labels are
/// raised as in the auction, to one more than the second least of the row. A chain whose share is used up
/// waits for the next phase, before which a breadth-first search from the free columns makes all labels
/// exact.
///
/// The search stops once every active row is reached; columns not reached by then keep kUnreached, which
/// reads as the bound that the search has shown. Frontiers hold stretches of edges, so that a column of many
/// rows is shared by many groups. A frontier of few stretches is followed by the first block alone, in shared
/// memory: a barrier of one block costs a hundredth of that of the grid.
///
/// What a search needs to know of a row is in one word too: until it is reached, the edges of its column on
/// the columns' side, so that who reaches the row can list them without another look; from then on, its
/// level. The least of both is what an atomic minimum leaves. Labels are put in the columns' words
/// afterwards.
///
/// Races. Words of columns change only by compare-and-exchange while chains run, and labels only rise
/// (labels.h has the argument why a label computed from older ones is still a lower bound). In a search, the
/// one lane that takes a row's word from edges to a level lists the edges; a lane that reads an older word
/// first only tries in vain. Lists are filled in any order, which decides nothing but which maximum matching
/// is found. Counters come in threes: of a round, one is read, one added to, one cleared. Everything else is
/// written before a barrier and read behind it.

#include <cooperative_groups.h>

#include "matching/cardinality/device_graph.cuh"

namespace motes::matching::device::pushing {

constexpr int kBlock = 1024;
constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffffU;
constexpr int kStretch = 64;   ///< edges of a column that one group visits
constexpr int kStaged = 8192;  ///< stretches that a block gathers before it needs the grid's list
constexpr int kHalf = kStaged / 2;
constexpr int kCrowded = 1 << 14;  ///< stretches of a frontier that make for many visits in vain
constexpr int kAside = 4;          ///< stretches that a group of one block visits side by side
constexpr int kMoreRows = 2;       ///< rows of a long stretch that a lane visits side by side
constexpr int kApart = 1024;       ///< stretches that a block follows for itself at most
constexpr int kShare = 48;         ///< pushes that every chain may make in a phase, beside as many as levels
constexpr int kPatience = 4;       ///< phases without an end of a chain before fewer chains are tried
constexpr int kRecords = 64;       ///< phases told apart; what comes after them is added to the last

constexpr unsigned kNoPath = 0x7fffffffU;
constexpr unsigned kUnreached = 0xffffffffU;
constexpr int kMostColumnBits = 29;  ///< of a row's word before it is reached: how many edges its column has
constexpr int kMostEdgeBits = 34;    ///< and where they begin
constexpr unsigned long long kUnseen = 1ULL << 63;  ///< not reached yet
constexpr unsigned long long kActive = ~0ULL;       ///< not reached yet, and it has no column
constexpr unsigned long long kGone = 0;             ///< free for good: no search reaches it

using Word = unsigned long long;
__device__ inline Word word_of(unsigned label, Index row) {
  return Word{label} << 32 | static_cast<unsigned>(row);
}
__device__ inline unsigned label_of(Word word) { return static_cast<unsigned>(word >> 32); }
__device__ inline Index row_of(Word word) { return static_cast<Index>(static_cast<unsigned>(word)); }

/// Edges of one column, on the columns' side, and that column's level.
struct alignas(16) Stretch {
  Offset begin;
  int count;
  unsigned level;
};

/// What one phase did.
struct PhaseRecord {
  int active, reached, levels, supersteps, crowded, longest;
  unsigned long long relabel_ns, push_ns, pushes;
};

struct Counters {
  int frontier[3], reached[3];  ///< of a round: stretches to visit; active rows that the round before reached
  int active[3], head[2];       ///< of a phase: rows to push; the next one to take
  int hops[3];                  ///< of a round: levels that the round before went
  int phases;
  unsigned long long edges;
  PhaseRecord record[kRecords];
};
static_assert(sizeof(Counters) <= 4096, "comes back in a page");

struct Push {
  DeviceSides graph;
  Word* word;        ///< [cols]
  Word* sight;       ///< [rows] for searches: kUnseen and the edges of its column, kActive, kGone, a level
  Index* active[2];  ///< [rows]
  Stretch* frontier[2];  ///< [cols + nnz / kStretch]
  Counters* n;
  int chain;  ///< pushes of a chain in a phase; 0: by the levels of its search
  int hops, thin_hops, apart;
};

__device__ inline int thread_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int thread_total() { return static_cast<int>(gridDim.x * blockDim.x); }
__device__ inline unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// What a block shares.
struct Shared {
  Stretch stretch[kStaged];
  int count, base, reached, told;
};

__device__ inline Word unseen_word(Offset begin, Offset count) {
  return kUnseen | static_cast<Word>(begin) << kMostColumnBits | static_cast<Word>(count);
}

/// Hands edges to put(stretch), at most kStretch at a time.
template <class Put>
__device__ void for_stretches(Offset begin, Offset count, unsigned level, Put&& put) {
  for (; count > 0; begin += kStretch, count -= kStretch)
    put(Stretch{begin, static_cast<int>(min(Offset{kStretch}, count)), level});
}

/// Puts a stretch where the block gathers them, or, where that is full, into the grid's list.
__device__ inline void stage(Shared& shared, const Stretch& stretch, Stretch* list, int* count) {
  const int place = atomicAdd(&shared.count, 1);
  if (place < kStaged)
    shared.stretch[place] = stretch;
  else
    list[atomicAdd(count, 1)] = stretch;
}
/// Moves what was gathered to the grid's list. The whole block calls; so ends a round of staging.
__device__ inline void unstage(Shared& shared, Stretch* list, int* count, int* reached) {
  __syncthreads();
  const int staged = min(shared.count, kStaged);
  if (threadIdx.x == 0) {
    if (staged > 0) shared.base = atomicAdd(count, staged);
    if (shared.reached > 0) atomicAdd(reached, shared.reached);
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < staged; k += kBlock)
    list[shared.base + k] = shared.stretch[k];
  if (threadIdx.x == 0) shared.count = shared.reached = 0;
  __syncthreads();
}

/// A lane's next rows, kSide of them side by side; -1: none. Stretches of the columns of rows that it reaches
/// go to put(stretch). With `look` a row is looked at before it is claimed, which spares crowded levels the
/// atomics.
template <int kSide, class Put>
__device__ int reach(const Push& p, const Index* row, const unsigned* level, bool look, Put&& put) {
  Word sight[kSide];
#pragma unroll
  for (int d = 0; d < kSide; ++d) sight[d] = row[d] == -1 ? kGone : look ? __ldcg(p.sight + row[d]) : kActive;
#pragma unroll
  for (int d = 0; d < kSide; ++d)
    if (sight[d] >= kUnseen) sight[d] = atomicMin(p.sight + row[d], Word{level[d]});
  int reached = 0;
#pragma unroll
  for (int d = 0; d < kSide; ++d) {
    if (sight[d] < kUnseen) continue;
    if (sight[d] == kActive) {
      ++reached;
      continue;
    }
    const auto begin = static_cast<Offset>((sight[d] & ~kUnseen) >> kMostColumnBits);
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p.graph.row_index + begin));
    for_stretches(begin, static_cast<Offset>(sight[d] & ((1ULL << kMostColumnBits) - 1)), level[d], put);
  }
  return reached;
}

/// The lanes of a group visit the rows of kSide stretches.
template <int kLanes, int kSide, class Put>
__device__ int visit(const Push& p, const Stretch* stretch, bool look, Put&& put) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  Index row[kSide];
  unsigned level[kSide];
  int longest = 0;
#pragma unroll
  for (int d = 0; d < kSide; ++d) {
    row[d] = lane < stretch[d].count ? p.graph.row_index[stretch[d].begin + lane] : -1;
    level[d] = stretch[d].level + 1;
    longest = max(longest, stretch[d].count);
  }
  int reached = reach<kSide>(p, row, level, look, put);
  if (longest <= kLanes) return reached;
#pragma unroll
  for (int d = 0; d < kSide; ++d)
    for (int k = kLanes + lane; k < stretch[d].count; k += kMoreRows * kLanes) {
      Index more[kMoreRows];
      unsigned same[kMoreRows];
#pragma unroll
      for (int m = 0; m < kMoreRows; ++m) same[m] = level[d];
#pragma unroll
      for (int m = 0; m < kMoreRows; ++m)
        more[m] =
            k + m * kLanes < stretch[d].count ? p.graph.row_index[stretch[d].begin + k + m * kLanes] : -1;
      reached += reach<kMoreRows>(p, more, same, look, put);
    }
  return reached;
}

/// A round in which every block follows its part of the frontier for itself, up to `hops` levels, in shared
/// memory.
template <int kLanes>
__device__ void search_apart(const Push& p, Shared& shared, const Stretch* from, int frontier, int hops,
                             int wanted, Stretch* list, int* list_count, int* list_reached, int* list_hops) {
  const int part = (frontier + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
  const int begin = static_cast<int>(blockIdx.x) * part;
  int count = max(0, min(part, frontier - begin)), hop = 0;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += kBlock) shared.stretch[k] = from[begin + k];
  __syncthreads();
  while (count > 0) {
    const Stretch* now = shared.stretch + hop % 2 * kHalf;
    Stretch* next = shared.stretch + (hop + 1) % 2 * kHalf;
    int told = 0;
    if (threadIdx.x == 0) told = __ldcg(list_reached);
    int mine = 0;
    for (int k = static_cast<int>(threadIdx.x) / kLanes; k < count; k += kAside * kBlock / kLanes) {
      Stretch some[kAside];
#pragma unroll
      for (int d = 0; d < kAside; ++d)
        some[d] = k + d * kBlock / kLanes < count ? now[k + d * kBlock / kLanes] : Stretch{0, 0, 0};
      mine += visit<kLanes, kAside>(p, some, false, [&](const Stretch& stretch) {
        const int place = atomicAdd(&shared.count, 1);
        if (place < kHalf)
          next[place] = stretch;
        else
          list[atomicAdd(list_count, 1)] = stretch;
      });
    }
    if (mine > 0) atomicAdd(&shared.reached, mine);
    if (threadIdx.x == 0) shared.told = told;
    __syncthreads();
    count = min(shared.count, kHalf);
    const int reached = shared.reached;
    const bool enough = shared.told + reached >= wanted;
    ++hop;
    __syncthreads();
    if (threadIdx.x == 0) {
      shared.count = shared.reached = 0;
      if (reached > 0) atomicAdd(list_reached, reached);
    }
    __syncthreads();
    if (hop >= hops || count > 2 * kApart || enough) break;
  }
  if (threadIdx.x == 0) {
    if (count > 0) shared.base = atomicAdd(list_count, count);
    if (hop > 0) atomicMax(list_hops, hop);
  }
  __syncthreads();
  const Stretch* rest = shared.stretch + hop % 2 * kHalf;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += kBlock) list[shared.base + k] = rest[k];
}

struct Searched {
  unsigned bound;  ///< label of columns not reached
  int levels;
};

/// Exact labels for all columns nearer than the bound returned.
template <int kLanes>
__device__ Searched relabel(const cooperative_groups::grid_group& grid, const Push& p, Shared& shared,
                            long long& round, int active_count, const Index* active, PhaseRecord& record) {
  Counters& n = *p.n;
  const bool first = thread_index() == 0;
  for (Index j = thread_index(); j < p.graph.cols; j += thread_total()) {
    const Index row = row_of(p.word[j]);
    const Offset begin = p.graph.col_offsets[j], count = p.graph.col_offsets[j + 1] - begin;
    if (row != -1)
      p.sight[row] = unseen_word(begin, count);
    else
      for_stretches(begin, count, 0, [&](const Stretch& stretch) {
        stage(shared, stretch, p.frontier[round % 2], n.frontier + round % 3);
      });
  }
  for (int k = thread_index(); k < active_count; k += thread_total()) p.sight[active[k]] = kActive;
  unstage(shared, p.frontier[round % 2], n.frontier + round % 3, n.reached + round % 3);
  grid.sync();
  unsigned level = 0;
  int reached = 0, supersteps = 0, crowded = 0;
  for (;; ++round) {
    const int count = n.frontier[round % 3];
    reached += n.reached[round % 3];
    level += static_cast<unsigned>(n.hops[round % 3]);
    if (count == 0 || reached >= active_count) break;
    const Stretch* now = p.frontier[round % 2];
    Stretch* next = p.frontier[(round + 1) % 2];
    int* next_count = n.frontier + (round + 1) % 3;
    int* next_reached = n.reached + (round + 1) % 3;
    int* next_hops = n.hops + (round + 1) % 3;
    if (first) n.frontier[(round + 2) % 3] = n.reached[(round + 2) % 3] = n.hops[(round + 2) % 3] = 0;
    if (count <= p.apart * static_cast<int>(gridDim.x)) {
      ++supersteps;
      search_apart<kLanes>(p, shared, now, count, count <= 4 * kBlock ? p.thin_hops : p.hops,
                           active_count - reached, next, next_count, next_reached, next_hops);
    } else {
      ++crowded;
      if (first) *next_hops = 1;
      int mine = 0;
      for (int k = thread_index() / kLanes; k < count; k += 2 * (thread_total() / kLanes)) {
        const int other = k + thread_total() / kLanes;
        const Stretch some[2] = {now[k], other < count ? now[other] : Stretch{0, 0, 0}};
        mine += visit<kLanes, 2>(p, some, true,
                                 [&](const Stretch& stretch) { stage(shared, stretch, next, next_count); });
      }
      if (mine > 0) atomicAdd(&shared.reached, mine);
      unstage(shared, next, next_count, next_reached);
    }
    grid.sync();
  }
  const bool early = n.frontier[round % 3] != 0;
  if (first) {
    // The next search begins a round of its own, with nothing in its lists.
    n.frontier[(round + 1) % 3] = n.frontier[(round + 2) % 3] = 0;
    n.reached[(round + 1) % 3] = n.reached[(round + 2) % 3] = 0;
    n.hops[(round + 1) % 3] = n.hops[(round + 2) % 3] = 0;
    record.reached = reached;
    record.levels += static_cast<int>(level);
    record.supersteps = supersteps;
    record.crowded = crowded;
  }
  for (Index j = thread_index(); j < p.graph.cols; j += thread_total()) {
    const Index row = row_of(p.word[j]);
    const Word sight = row == -1 ? 0 : __ldcg(p.sight + row);
    p.word[j] = word_of(sight < kUnseen ? static_cast<unsigned>(sight) : kUnreached, row);
  }
  grid.sync();
  ++round;
  return {early ? level + 1 : kNoPath, static_cast<int>(level)};
}

template <int kLanes>
__device__ unsigned group_min(unsigned value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) value = min(value, __shfl_xor_sync(kAll, value, step));
  return value;
}

/// Chains, until each has ended or had its share. Groups of a warp go step by step together.
template <int kLanes>
__device__ void push_chains(const Push& p, unsigned bound, int share, const Index* active, int active_count,
                            int* head, Index* left, int* left_count, PhaseRecord& record) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned first_lane = threadIdx.x % kWarp / kLanes * kLanes;
  const unsigned mask = kLanes == kWarp ? kAll : ((1U << kLanes) - 1) << first_lane;
  const unsigned limit = static_cast<unsigned>(min(p.graph.rows, p.graph.cols)) + 1;
  Index row = -1;
  bool more = true;
  int pushes = 0, room = 0, steps = 0;
  Offset begin = 0, end = 0;
  unsigned long long edges = 0;
  for (;; ++steps) {
    if (row == -1 && more) {
      int k = 0;
      if (lane == 0) k = atomicAdd(head, 1);
      k = __shfl_sync(mask, k, static_cast<int>(first_lane));
      more = k < active_count;
      if (more) {
        row = active[k];
        begin = p.graph.row_offsets[row];
        end = p.graph.row_offsets[row + 1];
        room = share;
      }
    }
    if (!__any_sync(kAll, row != -1)) break;
    unsigned best = kUnreached, second = kUnreached;
    Index col = -1;
    Word seen = 0;
    for (Offset e = begin + lane; e - lane < end; e += 2 * kLanes) {
      Index j[2];
      Word word[2];
#pragma unroll
      for (int d = 0; d < 2; ++d) j[d] = e + d * kLanes < end ? p.graph.col_index[e + d * kLanes] : -1;
#pragma unroll
      for (int d = 0; d < 2; ++d) word[d] = j[d] == -1 ? word_of(kNoPath, -1) : __ldcg(p.word + j[d]);
#pragma unroll
      for (int d = 0; d < 2; ++d) {
        const unsigned label = label_of(word[d]) == kUnreached ? bound : label_of(word[d]);
        if (label < best) {
          second = best;
          best = label;
          col = j[d];
          seen = word[d];
        } else {
          second = min(second, label);
        }
      }
      // Nothing is below a free column; in a long row the second least is then left at no more than is seen.
      if (end - begin > 4 * kLanes && __any_sync(mask, best == 0)) {
        second = 0;
        break;
      }
    }
    edges += lane == 0 ? static_cast<unsigned long long>(end - begin) : 0;
    __syncwarp();
    const unsigned least = group_min<kLanes>(best);
    const int winner = __ffs(static_cast<int>(__ballot_sync(kAll, best == least) & mask)) - 1;
    const bool wins = winner == static_cast<int>(threadIdx.x % kWarp);
    const unsigned runner_up = group_min<kLanes>(wins ? second : best);
    const Index owner = __shfl_sync(kAll, row_of(seen), winner);
    Word found = ~seen;
    if (wins && row != -1 && least < limit)
      found = atomicCAS(p.word + col, seen, word_of(runner_up < kNoPath ? runner_up + 1 : kNoPath, row));
    // Under way while the exchange is: who goes on where it succeeds.
    Offset next_begin = 0, next_end = 0;
    if (owner != -1) {
      next_begin = p.graph.row_offsets[owner];
      next_end = p.graph.row_offsets[owner + 1];
    }
    const bool taken = __shfl_sync(kAll, static_cast<int>(found == seen), winner) != 0;
    if (row == -1) continue;
    if (least >= limit) {
      if (lane == 0) {
        if (least >= kNoPath)
          p.sight[row] = kGone;
        else
          left[atomicAdd(left_count, 1)] = row;
      }
      row = -1;
    } else if (taken) {
      ++pushes;
      row = owner;
      begin = next_begin;
      end = next_end;
      if (row != -1 && --room == 0) {
        if (lane == 0) left[atomicAdd(left_count, 1)] = row;
        row = -1;
      }
    }
    if (row == -1) begin = end = 0;
  }
  for (int step = kWarp / 2; step > 0; step /= 2) edges += __shfl_xor_sync(kAll, edges, step);
  pushes = lane == 0 ? pushes : 0;
  pushes = static_cast<int>(__reduce_add_sync(kAll, pushes));
  if (threadIdx.x % kWarp == 0 && steps > 0) {
    atomicAdd(&record.pushes, static_cast<unsigned long long>(pushes));
    atomicMax(&record.longest, steps);
    atomicAdd(&p.n->edges, edges);
  }
}

/// The whole of it. On entry: words the rows that the start gives them; the active rows listed, other free
/// rows kGone.
template <int kLanes>
__global__ void __launch_bounds__(kBlock, 1) push_relabel_kernel(Push p) {
  extern __shared__ Stretch memory[];
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
    const Searched searched = relabel<kLanes>(grid, p, shared, round, active_count, active, record);
    if (first) {
      n.active[(phase + 2) % 3] = n.head[(phase + 1) % 2] = 0;
      record.active = active_count;
      record.relabel_ns += lap();
    }
    // The longest path and some more. Where no chain has ended, a larger share and, later, fewer chains: one
    // alone walks down its labels.
    const auto share = static_cast<int>(
        min(Offset{p.chain > 0 ? p.chain : kShare + searched.levels} << stalls, Offset{1} << 30));
    const int pushed = max(1, active_count >> max(0, stalls - kPatience));
    int* left_count = n.active + (phase + 1) % 3;
    Index* left = p.active[(phase + 1) % 2];
    for (int k = pushed + thread_index(); k < active_count; k += thread_total())
      left[atomicAdd(left_count, 1)] = active[k];
    push_chains<kLanes>(p, searched.bound, share, active, pushed, n.head + phase % 2, left, left_count,
                        record);
    grid.sync();
    if (first) record.push_ns += lap();
    stalls = *left_count == active_count ? min(stalls + 1, 30) : 0;
  }
  if (first) n.phases = phase;
}

}  // namespace motes::matching::device::pushing
