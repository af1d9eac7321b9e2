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
constexpr int kPerLane = 2;    ///< of them that a lane visits side by side
constexpr int kStaged = 4096;  ///< stretches that a block gathers before it needs the grid list
constexpr int kQueued = 8192;  ///< stretches that a block follows without that list
constexpr int kAside = 2;      ///< stretches that a group of a crowded level visits side by side
constexpr int kApart = 512;    ///< stretches that a block follows for itself at most
constexpr int kShare = 48;     ///< pushes that every chain may make in a phase, beside as many as levels
constexpr int kPatience = 4;   ///< phases without an end of a chain before fewer chains are tried
constexpr int kRecords = 64;   ///< phases told apart; what comes after them is added to the last

constexpr unsigned kNoPath = 0x7fffffffU;
constexpr unsigned kUnreached = 0xffffffffU;
constexpr int kMostColumnBits = 29;  ///< of a row's word before it is reached: how many edges its column has
constexpr int kMostEdgeBits = 34;    ///< and where they begin
constexpr int kWordBits = 64;
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
  int deepest[3];               ///< of a round: level that the round before came to
  int phases;
  unsigned long long edges;
  PhaseRecord record[kRecords];
};
static_assert(sizeof(Counters) <= 4096, "comes back in a page");

/// How the kernels' work is cut up for a graph's mean degree.
template <int kGroup, int kNearPerLane>
struct Shape {
  static constexpr int kLanes = kGroup;       ///< that look at one row, or at the edges of one stretch
  static constexpr int kEach = kNearPerLane;  ///< near columns of a row that a lane looks at
  static constexpr int kNear =
      kLanes * kEach;  ///< columns of a row that lie at its place in one table, so that
                       ///< who knows the row need not look where its edges begin
};
constexpr Index kMore =
    -2;  ///< in the last near place: the row's last columns are in its list of edges alone

struct Push {
  DeviceSides graph;
  const Index* near;  ///< [rows * kNear]; -1 where a row has fewer
  Word* word;         ///< [cols]
  Word* sight;        ///< [rows] for searches: kUnseen and the edges of its column, kActive, kGone, a level
  Index* active[2];   ///< [rows]
  Stretch* frontier[2];  ///< [cols + nnz / kStretch]
  Counters* n;
  int chain;  ///< pushes of a chain in a phase; 0: by the levels of its search
  int hops, thin_hops, apart;
  bool look;
  unsigned* seen;
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
  union {
    Stretch stretch[kStaged];  ///< on crowded levels
    Word slot[kQueued];        ///< on others
  };
  int count, base, reached;
  int head, tail, pending, deepest, enough;  ///< of a queue
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

/// Puts a stretch into the grid's list; lanes of a warp that do so together ask for room once.
__device__ inline void append(const Stretch& stretch, Stretch* list, int* count) {
  const auto together = cooperative_groups::coalesced_threads();
  int place = 0;
  if (together.thread_rank() == 0) place = atomicAdd(count, static_cast<int>(together.size()));
  list[together.shfl(place, 0) + static_cast<int>(together.thread_rank())] = stretch;
}
/// Puts a stretch where the block gathers them, or, where that is full, into the grid's list.
__device__ inline void stage(Shared& shared, const Stretch& stretch, Stretch* list, int* count) {
  const int place = atomicAdd(&shared.count, 1);
  if (place < kStaged)
    shared.stretch[place] = stretch;
  else
    append(stretch, list, count);
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

/// The lanes of a group visit the rows of kAside stretches. Stretches of the columns of rows that they reach
/// go to put(stretch). With `look` a row is looked at before it is claimed, which spares crowded levels the
/// atomics.
template <class S, int kAside, class Put>
__device__ int visit(const Push& p, const Stretch* stretch, bool look, Put&& put) {
  const int lane = static_cast<int>(threadIdx.x) % S::kLanes;
  constexpr int kSide = kAside * kPerLane;
  int reached = 0, longest = 0;
#pragma unroll
  for (int d = 0; d < kAside; ++d) longest = max(longest, stretch[d].count);
  for (int done = 0; done < longest; done += kPerLane * S::kLanes) {
    Index row[kSide];
    Word sight[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      const int k = done + d % kPerLane * S::kLanes + lane;
      const Stretch& from = stretch[d / kPerLane];
      row[d] = k < from.count ? p.graph.row_index[from.begin + k] : -1;
    }
#pragma unroll
    for (int d = 0; d < kSide; ++d) sight[d] = row[d] == -1 ? kGone : kActive;
    if (p.seen != nullptr) {
#pragma unroll
      for (int d = 0; d < kSide; ++d) {
        const unsigned bits = row[d] == -1 ? 0 : __ldcg(p.seen + row[d] / 32);
        if ((bits >> (row[d] % 32) & 1U) != 0) sight[d] = kGone;
      }
    } else if (look) {
#pragma unroll
      for (int d = 0; d < kSide; ++d)
        if (row[d] != -1) sight[d] = __ldcg(p.sight + row[d]);
    }
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      if (sight[d] >= kUnseen) sight[d] = atomicMin(p.sight + row[d], Word{stretch[d / kPerLane].level + 1});
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      if (sight[d] < kUnseen) continue;
      if (p.seen != nullptr) atomicOr(p.seen + row[d] / 32, 1U << (row[d] % 32));
      if (sight[d] == kActive) {
        ++reached;
        continue;
      }
      const auto begin = static_cast<Offset>((sight[d] & ~kUnseen) >> kMostColumnBits);
      asm volatile("prefetch.global.L2 [%0];" ::"l"(p.graph.row_index + begin));
      for_stretches(begin, static_cast<Offset>(sight[d] & ((1ULL << kMostColumnBits) - 1)),
                    stretch[d / kPerLane].level + 1, put);
    }
  }
  return reached;
}

/// A queue of stretches in shared memory, first in, first out, that warps fill and empty as they come. A
/// stretch is one word there, with how far its level is below the round's limit.
struct Queue {
  Shared& shared;
  unsigned limit;
  static constexpr int kCountBits = 6, kBelowBits = kWordBits - kMostEdgeBits - kCountBits;
  static constexpr Word kVacant = ~0ULL;
  static_assert(kStretch <= 1 << kCountBits);

  __device__ Word* slot(int place) const { return shared.slot + place % kQueued; }
  __device__ Word packed(const Stretch& stretch) const {
    return static_cast<Word>(stretch.begin) << (kCountBits + kBelowBits) |
           static_cast<Word>(stretch.count - 1) << kBelowBits | (limit - stretch.level);
  }
  __device__ Stretch unpacked(Word word) const {
    return {static_cast<Offset>(word >> (kCountBits + kBelowBits)),
            static_cast<int>(word >> kBelowBits & ((1U << kCountBits) - 1)) + 1,
            limit - static_cast<unsigned>(word & ((1U << kBelowBits) - 1))};
  }
  __device__ static int look(int& value) { return atomicOr(&value, 0); }

  /// False where it is full.
  __device__ bool put(const Stretch& stretch) const {
    if (atomicAdd(&shared.pending, 1) >= kQueued) {
      atomicSub(&shared.pending, 1);
      return false;
    }
    const int place = atomicAdd(&shared.tail, 1);
    while (atomicCAS(slot(place), kVacant, packed(stretch)) != kVacant) {
      // Who has been given the stretch that was there is about to take it.
    }
    return true;
  }
  /// Places for up to `most` groups of a warp, from `place` on; 0: none now, -1: nothing is left to do.
  /// Called by one lane.
  __device__ int reserve(int most, int& place) const {
    place = look(shared.head);
    const int ready = look(shared.tail) - place;
    if (ready <= 0) return look(shared.pending) == 0 ? -1 : 0;
    constexpr int kWarps = kBlock / kWarp;
    const int want = min(most, (ready + kWarps - 1) / kWarps);
    return atomicCAS(&shared.head, place, place + want) == place ? want : 0;
  }
  /// What lies at a place reserved.
  __device__ Word take(int place) const {
    Word found = kVacant;
    while ((found = atomicExch(slot(place), kVacant)) == kVacant) {
      // Who has been given that place is about to put a stretch there.
    }
    return found;
  }
};

/// A round in which every block follows its part of the frontier for itself, without a barrier, up to the
/// level `limit`; what is farther goes to the grid's list.
template <class S>
__device__ void search_apart(const Push& p, Shared& shared, const Stretch* from, int frontier, unsigned limit,
                             int wanted, Stretch* list, int* list_count, int* list_reached, int* list_level) {
  const int part = (frontier + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
  const int begin = static_cast<int>(blockIdx.x) * part;
  const int count = max(0, min(part, frontier - begin));
  const Queue queue{shared, limit};
  for (int k = static_cast<int>(threadIdx.x); k < kQueued; k += kBlock)
    shared.slot[k] = k < count ? queue.packed(from[begin + k]) : Queue::kVacant;
  if (threadIdx.x == 0) {
    shared.head = shared.deepest = shared.enough = 0;
    shared.tail = shared.pending = count;
  }
  __syncthreads();
  const int me = static_cast<int>(threadIdx.x % kWarp), group = me / S::kLanes;
  unsigned deepest = 0;
  while (true) {
    int place = 0, reserved = -1;
    if (me == 0 && Queue::look(shared.enough) == 0) {
      reserved = queue.reserve(kWarp / S::kLanes, place);
      if (threadIdx.x == 0 && __ldcg(list_reached) >= wanted) atomicExch(&shared.enough, 1);
    }
    reserved = __shfl_sync(kAll, reserved, 0);
    if (reserved < 0) break;
    if (reserved == 0) {
      __nanosleep(20);
      continue;
    }
    place = __shfl_sync(kAll, place, 0);
    Word word = 0;
    if (group < reserved && me % S::kLanes == 0) word = queue.take(place + group);
    word = __shfl_sync(kAll, word, group * S::kLanes);
    const Stretch one = group < reserved ? queue.unpacked(word) : Stretch{0, 0, 0};
    const int mine = visit<S, 1>(p, &one, p.look, [&](const Stretch& stretch) {
      deepest = max(deepest, stretch.level);
      if (stretch.level >= limit || !queue.put(stretch)) append(stretch, list, list_count);
    });
    if (mine > 0 && atomicAdd(list_reached, mine) + mine >= wanted) atomicExch(&shared.enough, 1);
    __syncwarp();
    if (me == 0) atomicSub(&shared.pending, reserved);
  }
  if (deepest > 0) atomicMax(&shared.deepest, static_cast<int>(deepest));
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (shared.deepest > 0) atomicMax(list_level, shared.deepest);
  if (shared.pending > 0) atomicAdd(list_count, 1);  // the search is over, but not for want of stretches
}

struct Searched {
  unsigned bound;  ///< label of columns not reached
  int levels;
};

/// Exact labels for all columns nearer than the bound returned.
template <class S>
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
  if (p.seen != nullptr)
    for (int k = thread_index(); k <= p.graph.rows / 32; k += thread_total()) p.seen[k] = 0;
  unstage(shared, p.frontier[round % 2], n.frontier + round % 3, n.reached + round % 3);
  grid.sync();
  unsigned level = 0;
  int reached = 0, supersteps = 0, crowded = 0;
  for (;; ++round) {
    const int count = n.frontier[round % 3];
    reached += n.reached[round % 3];
    level = max(level, static_cast<unsigned>(n.deepest[round % 3]));
    if (count == 0 || reached >= active_count) break;
    const Stretch* now = p.frontier[round % 2];
    Stretch* next = p.frontier[(round + 1) % 2];
    int* next_count = n.frontier + (round + 1) % 3;
    int* next_reached = n.reached + (round + 1) % 3;
    int* next_level = n.deepest + (round + 1) % 3;
    if (first) n.frontier[(round + 2) % 3] = n.reached[(round + 2) % 3] = n.deepest[(round + 2) % 3] = 0;
    if (count <= p.apart * static_cast<int>(gridDim.x)) {
      ++supersteps;
      search_apart<S>(p, shared, now, count, level + (count <= 4 * kBlock ? p.thin_hops : p.hops),
                      active_count - reached, next, next_count, next_reached, next_level);
    } else {
      ++crowded;
      if (first) *next_level = static_cast<int>(level) + 1;
      int mine = 0;
      const int groups = thread_total() / S::kLanes;
      for (int k = thread_index() / S::kLanes; k < count; k += kAside * groups) {
        const Stretch some[kAside] = {now[k], k + groups < count ? now[k + groups] : Stretch{0, 0, 0}};
        mine += visit<S, kAside>(p, some, true,
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
    n.deepest[(round + 1) % 3] = n.deepest[(round + 2) % 3] = 0;
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

/// A group's lanes look at the columns of a row: what one lane holds of them.
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

/// Chains, until each has ended or had its share. Groups of a warp go step by step together; where chains are
/// few, they have a warp each.
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
  Index last_col = -1;  // taken by this group while it looked at these: what it saw of it may be older
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
    // Rows of more columns than are near: the others from the list of edges.
    if (__any_sync(mask, look.col[Look<S>::kEach - 1] == kMore)) {
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
        // Nothing is below a free column; in a long row the second least is then left at no more than is
        // seen.
        if (end - begin > 4 * kLanes && __any_sync(mask, mine.best == 0)) {
          mine.second = 0;
          break;
        }
      }
    }
    __syncwarp();
    const unsigned least = group_min<kLanes>(mine.best);
    const int winner = __ffs(static_cast<int>(__ballot_sync(kAll, mine.best == least) & mask)) - 1;
    const bool wins = winner == static_cast<int>(threadIdx.x % kWarp);
    const unsigned runner_up = group_min<kLanes>(wins ? mine.second : mine.best);
    const Index owner = __shfl_sync(kAll, row_of(mine.seen), winner);
    const Word raised = word_of(runner_up < kNoPath ? runner_up + 1 : kNoPath, row);
    Word found = ~mine.seen;
    if (wins && row != -1 && least < limit) found = atomicCAS(p.word + mine.col, mine.seen, raised);
    // Under way while the exchange is: what who goes on will see where it succeeds.
    Look<S> ahead;
    ahead.list(p, row == -1 || least >= limit ? -1 : owner, lane);
    ahead.read(p);
    const bool taken = __shfl_sync(kAll, static_cast<int>(found == mine.seen), winner) != 0;
    const Index col = __shfl_sync(kAll, mine.col, winner);
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
  edges = static_cast<int>(__reduce_add_sync(kAll, edges));
  pushes = static_cast<int>(__reduce_add_sync(kAll, lane == 0 ? pushes : 0));
  if (threadIdx.x % kWarp == 0 && steps > 0) {
    atomicAdd(&record.pushes, static_cast<unsigned long long>(pushes));
    atomicMax(&record.longest, steps);
    atomicAdd(&p.n->edges, static_cast<unsigned long long>(edges));
  }
}

/// The whole of it. On entry: words the rows that the start gives them; the active rows listed, other free
/// rows kGone.
template <class S>
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
    const Searched searched = relabel<S>(grid, p, shared, round, active_count, active, record);
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
    push_chains<S>(p, searched.bound, share, active, pushed, n.head + phase % 2, left, left_count, record);
    grid.sync();
    if (first) record.push_ns += lap();
    stalls = *left_count == active_count ? min(stalls + 1, 30) : 0;
  }
  if (first) n.phases = phase;
}

}  // namespace motes::matching::device::pushing
