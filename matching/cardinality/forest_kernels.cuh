#pragma once
/// ms-bfs and ms-bfs-graft (ms_bfs.h) on the GPU: all phases in one cooperative kernel.
///
/// A column's root and its mate share one 64-bit word, so that one read tells whether it is to be had and who
/// comes next, and one exchange takes it. What a column was reached from is a row and that row's own column,
/// so that a path is walked with one read a step. Downwards, groups of lanes share stretches of the
/// frontier's edges (stretches.cuh); upwards, each group has a column, and columns of many rows, which are
/// put aside, have a block. A frontier of few stretches is followed downwards by the first block alone,
/// whatever the rule of direction says: there a level costs the latency of its reads and no barrier of the
/// grid. The sets that Algorithm 7 asks for are found by a pass over all columns, as in the paper.
///
/// Races are those of the CPU's form (ms_bfs.cpp). Downwards a column is won by exchanging its word, upwards
/// it is one group's own; its winner alone writes its parent and its mate's root. Several leaves of a tree:
/// the last one written stands. A row's root is trusted where its tree has no leaf; trees lose rows only by
/// finding a leaf, which stays noted forever, or between barriers. So a root read late names a tree that
/// the row is in or one that has a leaf. A parent is a row that was in its tree before: no cycles. Counters
/// come in threes: of a round, one is read, one added to, one cleared.

#include <cooperative_groups.h>

#include "matching/cardinality/stretches.cuh"

namespace motes::matching::device::forests {

constexpr int kBlock = 1024;
constexpr int kSide = 4;                ///< edges that a lane reads side by side
constexpr int kAlone = 256;             ///< stretches of a frontier that one block follows alone
constexpr int kHub = 512, kHubs = 128;  ///< rows of a column that a block takes; most of them put aside
constexpr int kRecords = 1 << 13;       ///< phases told apart; the last takes in what follows
constexpr int kLevelRecords = 1 << 17;  ///< levels whose frontiers are told

using Word = unsigned long long;
constexpr unsigned kNone = 0xffffffffU;
__device__ inline Word word_of(unsigned root, Index mate) {
  return Word{root} << 32 | static_cast<unsigned>(mate);
}
__device__ inline unsigned root_of(Word word) { return static_cast<unsigned>(word >> 32); }
__device__ inline Index mate_of(Word word) { return static_cast<Index>(static_cast<unsigned>(word)); }

struct Report {
  int frontier[3];                   ///< of a round: stretches
  unsigned long long joined[3];      ///< of a round: rows | leaves << 32
  int unseen[3];                     ///< of a round upwards: columns left
  int roots[2];                      ///< of a phase
  int renewable, active, reachable;  ///< columns
  int alone_levels[2];               ///< of a round: levels that one block went through in it
  int phases, levels_told;
  bool done;
  unsigned long long edges, path_edges;
  unsigned long long down_ns, alone_ns, up_ns, augment_ns, graft_ns;
  int levels[kRecords], gained[kRecords];
};

struct Forest {
  DeviceSides graph;
  Index *row_to_col, *col_to_row;
  Word* word;          ///< [cols] its tree's root (kNone: in no tree) and its mate
  Origin* parent;      ///< [cols] while in a tree
  unsigned* row_root;  ///< [rows] kNone, or a root, whose tree it is in if that has no leaf
  Index* leaf;         ///< [rows] of a root: the free column found
  Index* roots[2];     ///< [rows] free rows, a list
  Index* unseen[2];    ///< [cols] columns that may be in no tree, a list
  Stretch* frontier[2];
  int* level_rows;  ///< [kLevelRecords] rows in the frontier of each level
  Report* report;
  long long alpha, edges_at_most;
  bool direction, graft;
};

struct Shared {
  Staging staging;
  int rows, leaves;  ///< that joined in this round
  Index hub[kHubs];
  int hubs, row;
};

/// What a thread found in a round, told once a block.
struct Joined {
  int rows = 0, leaves = 0;
};

/// The lanes of a group look through a stretch (Algorithm 4); put(stretch) gets those of rows that join.
template <int kLanes, class Put>
__device__ inline unsigned long long downwards(const Forest& f, const Stretch& stretch, Joined& joined,
                                               Put&& put) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned root = __ldcg(f.row_root + stretch.row);
  for (int e = lane; e < stretch.count(); e += kSide * kLanes) {
    Index col[kSide];
    Word seen[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      col[d] = e + d * kLanes < stretch.count() ? f.graph.col_index[stretch.begin() + e + d * kLanes] : -1;
    const Index leaf = __ldcg(f.leaf + root);  // under way while the words are
#pragma unroll
    for (int d = 0; d < kSide; ++d) seen[d] = col[d] != -1 ? __ldcg(f.word + col[d]) : Word{0};
    if (leaf != -1) return 0;
    Offset begin[kSide], end[kSide];
    bool won[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      won[d] = false;
      begin[d] = end[d] = 0;
      if (root_of(seen[d]) != kNone) continue;
      if (const Index mate = mate_of(seen[d]); mate != -1) {
        begin[d] = f.graph.row_offsets[mate];
        end[d] = f.graph.row_offsets[mate + 1];
      }
      won[d] = atomicCAS(f.word + col[d], seen[d], word_of(root, mate_of(seen[d]))) == seen[d];
    }
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      if (!won[d]) continue;
      const Index mate = mate_of(seen[d]);
      f.parent[col[d]] = {stretch.row, stretch.col};
      if (mate == -1) {
        __stcg(f.leaf + root, col[d]);
        ++joined.leaves;
      } else {
        __stcg(f.row_root + mate, root);
        ++joined.rows;
        for_stretches(mate, col[d], begin[d], end[d], put);
      }
    }
  }
  return lane == 0 ? static_cast<unsigned long long>(stretch.count()) : 0;
}

/// A column joins the tree that it has a row in.
template <class Put>
__device__ void join_upwards(const Forest& f, Index col, Index mate, Index row, unsigned root, Joined& joined,
                             Put&& put) {
  f.parent[col] = {row, f.row_to_col[row]};
  __stcg(f.word + col, word_of(root, mate));
  if (mate == -1) {
    __stcg(f.leaf + root, col);
    ++joined.leaves;
    return;
  }
  __stcg(f.row_root + mate, root);
  ++joined.rows;
  for_stretches(mate, col, f.graph.row_offsets[mate], f.graph.row_offsets[mate + 1], put);
}

/// The first of kSide rows, `step` edges apart from e on, that is in an active tree; -1: none.
__device__ inline Index active_row(const Forest& f, Offset e, Offset end, int step, unsigned& root) {
  Index row[kSide];
  unsigned root_of_row[kSide];
  Index leaf[kSide];
#pragma unroll
  for (int d = 0; d < kSide; ++d) row[d] = e + d * step < end ? f.graph.row_index[e + d * step] : -1;
#pragma unroll
  for (int d = 0; d < kSide; ++d) root_of_row[d] = row[d] != -1 ? __ldcg(f.row_root + row[d]) : kNone;
#pragma unroll
  for (int d = 0; d < kSide; ++d) leaf[d] = root_of_row[d] != kNone ? __ldcg(f.leaf + root_of_row[d]) : 0;
#pragma unroll
  for (int d = 0; d < kSide; ++d)
    if (leaf[d] == -1) {
      root = root_of_row[d];
      return row[d];
    }
  return -1;
}

/// Algorithm 6 over the columns that col_of(k), k < count, names (-1: none). Those that join no tree go to
/// the list `left`, where there is one. The whole grid calls. Returns edges looked at.
template <int kLanes, class ColOf>
__device__ inline unsigned long long upwards(const Forest& f, Shared& shared, int count, ColOf&& col_of,
                                             Stretch* next, int* next_count, Index* left, int* left_count,
                                             Joined& joined) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned first_lane = threadIdx.x % 32 / kLanes * kLanes;
  const unsigned mask = ((1U << kLanes) - 1) << first_lane;
  const auto put = [&](const Stretch& some) { shared.staging.put(some, next, next_count); };
  unsigned long long edges = 0;
  for (int k = spread_group<kLanes>(); k < count; k += grid_threads() / kLanes) {
    const Index col = col_of(k);
    if (col == -1) continue;
    const Word word = __ldcg(f.word + col);
    if (root_of(word) != kNone) continue;
    const Offset begin = f.graph.col_offsets[col], end = f.graph.col_offsets[col + 1];
    if (begin == end) continue;
    if (end - begin > kHub) {
      int place = 0;
      if (lane == 0) place = atomicAdd(&shared.hubs, 1);
      place = __shfl_sync(mask, place, static_cast<int>(first_lane));
      if (place < kHubs) {
        if (lane == 0) shared.hub[place] = col;
        continue;
      }
    }
    bool found = false;
    for (Offset e = begin + lane; e - lane < end && !found; e += kSide * kLanes) {
      unsigned root = kNone;
      const Index row = active_row(f, e, end, kLanes, root);
      const unsigned votes = __ballot_sync(mask, row != -1) & mask;
      found = votes != 0;
      if (__ffs(static_cast<int>(votes)) - 1 == static_cast<int>(threadIdx.x % 32))
        join_upwards(f, col, mate_of(word), row, root, joined, put);
      if (lane == 0) edges += static_cast<unsigned long long>(min(Offset{kSide * kLanes}, end - e));
    }
    if (!found && left != nullptr && lane == 0) left[place_in(left_count)] = col;
  }
  __syncthreads();
  const int hubs = min(shared.hubs, kHubs);
  for (int h = 0; h < hubs; ++h) {
    const Index col = shared.hub[h];
    const Offset begin = f.graph.col_offsets[col], end = f.graph.col_offsets[col + 1];
    if (threadIdx.x == 0) shared.row = -1;
    __syncthreads();
    bool found = false;
    for (Offset e = begin; e < end && !found; e += kSide * kBlock) {
      unsigned root = kNone;
      const Index row = active_row(f, e + static_cast<int>(threadIdx.x), end, kBlock, root);
      if (row != -1 && atomicCAS(&shared.row, -1, row) == -1)
        join_upwards(f, col, mate_of(f.word[col]), row, root, joined, put);
      if (threadIdx.x == 0) edges += static_cast<unsigned long long>(min(Offset{kSide * kBlock}, end - e));
      found = __syncthreads_or(row != -1) != 0;
    }
    if (!found && left != nullptr && threadIdx.x == 0) left[atomicAdd(left_count, 1)] = col;
    __syncthreads();
  }
  if (threadIdx.x == 0 && hubs > 0) shared.hubs = 0;
  __syncthreads();
  return edges;
}

__device__ inline unsigned long long joined_word(int rows, int leaves) {
  return static_cast<unsigned long long>(leaves) << 32 | static_cast<unsigned long long>(rows);
}

/// Ends a round: what the block gathered goes to the grid. The whole block calls.
__device__ inline void tell(Shared& shared, const Joined& joined, Stretch* next, int* next_count,
                            unsigned long long* total) {
  const int rows = static_cast<int>(__reduce_add_sync(0xffffffffU, joined.rows));
  const int leaves = static_cast<int>(__reduce_add_sync(0xffffffffU, joined.leaves));
  if (threadIdx.x % 32 == 0 && rows + leaves > 0) {
    atomicAdd(&shared.rows, rows);
    atomicAdd(&shared.leaves, leaves);
  }
  shared.staging.flush(next, next_count);
  if (threadIdx.x == 0 && shared.rows + shared.leaves > 0) {
    atomicAdd(total, joined_word(shared.rows, shared.leaves));
    shared.rows = shared.leaves = 0;
  }
}

/// Where all blocks are.
struct Progress {
  int round = 0;  ///< from one barrier of growing to the next
  int side = 0;   ///< which list holds the frontier
  int rows = 0;   ///< in the frontier
  int unseen = 0, levels = 0;
  unsigned long long edges = 0;  ///< of this thread
};

/// One block's levels downwards, from a frontier of few stretches until it is empty or too large. Frontiers
/// lie in the halves of the shared memory, what does not fit in the grid's lists.
template <int kLanes>
__device__ void search_alone(const Forest& f, Shared& shared, Progress& at) {
  constexpr int kHalf = kStaged / 2;
  Report& report = *f.report;
  int count = __ldcg(report.frontier + at.round % 3), rows = at.rows, rounds = 0, joined_here = 0;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += kBlock)
    shared.staging.stretch[k] = f.frontier[at.side][k];
  for (;;) {
    __syncthreads();
    const Stretch* now = shared.staging.stretch + rounds % 2 * kHalf;
    Stretch* next = shared.staging.stretch + (rounds + 1) % 2 * kHalf;
    Stretch* list = f.frontier[(at.side + rounds + 1) % 2];
    Joined joined;
    for (int k = static_cast<int>(threadIdx.x) / kLanes; k < count; k += kBlock / kLanes)
      at.edges += downwards<kLanes>(f, now[k], joined, [&](const Stretch& some) {
        const int place = atomicAdd(&shared.staging.count, 1);
        (place < kHalf ? next : list)[place] = some;
      });
    if (joined.rows > 0) atomicAdd(&shared.rows, joined.rows);
    if (joined.leaves > 0) atomicAdd(&shared.leaves, joined.leaves);
    if (threadIdx.x == 0 && at.levels + rounds < kLevelRecords) f.level_rows[at.levels + rounds] = rows;
    __syncthreads();
    count = shared.staging.count;
    rows = shared.rows;
    joined_here += shared.rows + shared.leaves;
    ++rounds;
    __syncthreads();
    if (threadIdx.x == 0) shared.staging.count = shared.rows = shared.leaves = 0;
    if (count > 0 && count <= kAlone) continue;
    for (int k = static_cast<int>(threadIdx.x); k < min(count, kHalf); k += kBlock) list[k] = next[k];
    break;
  }
  if (threadIdx.x == 0) {
    report.alone_levels[at.round % 2] = rounds;
    report.frontier[(at.round + 1) % 3] = count;
    report.joined[(at.round + 1) % 3] = joined_word(rows, joined_here - rows);
  }
  __syncthreads();
}

/// Flips the path that ends in `col`. Returns its edges.
__device__ inline int flip(const Forest& f, Index col, unsigned root) {
  int length = 1;
  for (Origin up = f.parent[col];; length += 2) {
    Origin next{-1, -1};
    if (up.col != -1) next = f.parent[up.col];
    f.word[col] = word_of(root, up.row);
    f.row_to_col[up.row] = col;
    if (up.col == -1) return length;
    col = up.col;
    up = next;
  }
}

/// The whole grid calls.
__device__ inline void put_roots(const Forest& f, Shared& shared, const Index* roots, int count,
                                 Stretch* next, int* next_count) {
  for (int k = grid_thread(); k < count; k += grid_threads()) {
    const Index i = roots[k];
    for_stretches(i, -1, f.graph.row_offsets[i], f.graph.row_offsets[i + 1],
                  [&](const Stretch& some) { shared.staging.put(some, next, next_count); });
  }
  shared.staging.flush(next, next_count);
}

/// Step 1 of Algorithm 3: the forest grows until the frontier is empty.
template <int kLanes>
__device__ void grow(const Forest& f, const cooperative_groups::grid_group& grid, Shared& shared,
                     Progress& at, Clock& clock) {
  Report& report = *f.report;
  const int me = grid_thread(), total = grid_threads();
  int ups = 0;  // rounds upwards so far; from the second on, lists hold the columns that may be in no tree
  for (;;) {
    const int count = __ldcg(report.frontier + at.round % 3);
    if (count == 0) return;
    if (me == 0) {
      report.frontier[(at.round + 2) % 3] = 0;
      report.joined[(at.round + 2) % 3] = 0;
      if (at.levels < kLevelRecords) f.level_rows[at.levels] = at.rows;
    }
    const bool alone = count <= kAlone, up = !alone && f.direction && at.rows * f.alpha >= at.unseen;
    if (alone) {
      if (blockIdx.x == 0) search_alone<kLanes>(f, shared, at);
    } else {
      Stretch* next = f.frontier[1 - at.side];
      int* next_count = report.frontier + (at.round + 1) % 3;
      Joined joined;
      if (up) {
        const Index* from = ups == 0 ? nullptr : f.unseen[ups % 2];
        const int columns = ups == 0 ? f.graph.cols : __ldcg(report.unseen + ups % 3);
        if (me == 0) report.unseen[(ups + 2) % 3] = 0;
        ++ups;
        at.edges += upwards<kLanes>(
            f, shared, columns, [&](int k) { return from == nullptr ? k : from[k]; }, next, next_count,
            f.unseen[ups % 2], report.unseen + ups % 3, joined);
      } else {
        const Stretch* now = f.frontier[at.side];
        for (int k = spread_group<kLanes>(); k < count; k += total / kLanes)
          at.edges += downwards<kLanes>(
              f, now[k], joined, [&](const Stretch& some) { shared.staging.put(some, next, next_count); });
      }
      tell(shared, joined, next, next_count, report.joined + (at.round + 1) % 3);
    }
    grid.sync();
    const int levels = alone ? __ldcg(report.alone_levels + at.round % 2) : 1;
    ++at.round;
    at.levels += levels;
    at.side = (at.side + levels) % 2;
    const unsigned long long came = __ldcg(report.joined + at.round % 3);
    at.rows = static_cast<int>(came & 0xffffffffU);
    at.unseen -= at.rows + static_cast<int>(came >> 32);
    clock.lap(alone ? report.alone_ns : up ? report.up_ns : report.down_ns);
  }
}

/// Step 2: flips each tree's path. Returns how many roots are left, in the phase's other list.
__device__ inline int augment(const Forest& f, const cooperative_groups::grid_group& grid, int phase,
                              int roots, Progress& at) {
  Report& report = *f.report;
  int* left = report.roots + (phase + 1) % 2;
  for (int k = spread_group<1>(); k < roots; k += grid_threads()) {
    const Index i = f.roots[phase % 2][k], leaf = f.leaf[i];
    if (leaf == -1)
      f.roots[(phase + 1) % 2][place_in(left)] = i;
    else
      atomicAdd(&report.path_edges, static_cast<unsigned long long>(flip(f, leaf, static_cast<unsigned>(i))));
  }
  for (int step = 16; step > 0; step /= 2) at.edges += __shfl_xor_sync(0xffffffffU, at.edges, step);
  if (threadIdx.x % 32 == 0 && at.edges > 0) atomicAdd(&report.edges, at.edges);
  at.edges = 0;
  if (grid_thread() == 0) {
    // Of the round that has just ended others may still be reading.
    for (const int ahead : {1, 2})
      report.frontier[(at.round + ahead) % 3] = 0, report.joined[(at.round + ahead) % 3] = 0;
    report.unseen[0] = report.unseen[1] = report.unseen[2] = report.renewable = report.active = 0;
  }
  grid.sync();
  return __ldcg(left);
}

/// Step 3, Algorithm 7. Active rows are the mates of active columns, and the roots.
template <int kLanes>
__device__ void next_frontier(const Forest& f, const cooperative_groups::grid_group& grid, Shared& shared,
                              int phase, int roots, int reachable, Progress& at) {
  Report& report = *f.report;
  const int me = grid_thread(), total = grid_threads();
  int active = 0;
  for (Index j = me; j < f.graph.cols; j += total) {
    const Word word = f.word[j];
    if (root_of(word) == kNone) continue;
    if (f.leaf[root_of(word)] == -1) {
      ++active;
      continue;
    }
    f.word[j] = word_of(kNone, mate_of(word));
    f.unseen[0][place_in(&report.renewable)] = j;
  }
  active = static_cast<int>(__reduce_add_sync(0xffffffffU, active));
  if (threadIdx.x % 32 == 0 && active > 0) atomicAdd(&report.active, active);
  if (me == 0) {
    report.roots[(phase + 1) % 2] = 0;
    report.joined[at.round % 3] = 0;
  }
  grid.sync();
  const int renewable = __ldcg(&report.renewable);
  active = __ldcg(&report.active);
  Stretch* next = f.frontier[at.side];
  int* next_count = report.frontier + at.round % 3;
  if (f.graft && (Offset{active} + roots) * f.alpha > renewable) {
    Joined joined;
    at.edges += upwards<kLanes>(
        f, shared, renewable, [&](int k) { return f.unseen[0][k]; }, next, next_count, nullptr, nullptr,
        joined);
    tell(shared, joined, next, next_count, report.joined + at.round % 3);
    grid.sync();
    const unsigned long long came = __ldcg(report.joined + at.round % 3);
    at.rows = static_cast<int>(came & 0xffffffffU);
    at.unseen += renewable - at.rows - static_cast<int>(came >> 32);
    return;
  }
  for (Index j = me; j < f.graph.cols; j += total) {
    const Word word = f.word[j];
    if (root_of(word) == kNone) continue;
    f.row_root[mate_of(word)] = kNone;
    f.word[j] = word_of(kNone, mate_of(word));
  }
  put_roots(f, shared, f.roots[phase % 2], roots, next, next_count);
  grid.sync();
  at.rows = roots;
  at.unseen = reachable;
}

template <int kLanes>
__global__ void __launch_bounds__(kBlock, 1) forest_kernel(Forest f) {
  __shared__ Shared shared;
  const auto grid = cooperative_groups::this_grid();
  const int me = grid_thread(), total = grid_threads();
  Report& report = *f.report;
  Clock clock;
  if (threadIdx.x == 0) shared.staging.count = shared.rows = shared.leaves = shared.hubs = 0;
  __syncthreads();
  for (Index i = me; i < f.graph.rows; i += total) {
    const bool root = f.row_to_col[i] == -1 && f.graph.row_offsets[i] != f.graph.row_offsets[i + 1];
    f.row_root[i] = root ? static_cast<unsigned>(i) : kNone;
    f.leaf[i] = -1;
    if (root) f.roots[0][place_in(report.roots)] = i;
  }
  int reachable = 0;
  for (Index j = me; j < f.graph.cols; j += total) {
    f.word[j] = word_of(kNone, f.col_to_row[j]);
    reachable += f.graph.col_offsets == nullptr || f.graph.col_offsets[j] != f.graph.col_offsets[j + 1];
  }
  reachable = static_cast<int>(__reduce_add_sync(0xffffffffU, reachable));
  if (threadIdx.x % 32 == 0 && reachable > 0) atomicAdd(&report.reachable, reachable);
  grid.sync();
  reachable = report.reachable;
  int roots = report.roots[0], phase = 0;
  Progress at;
  at.rows = roots;
  at.unseen = reachable;
  put_roots(f, shared, f.roots[0], roots, f.frontier[0], report.frontier);
  grid.sync();
  clock.lap(report.graft_ns);
  bool done = roots == 0;
  while (!done) {
    const int levels_before = at.levels, record = min(phase, kRecords - 1);
    grow<kLanes>(f, grid, shared, at, clock);
    const int left = augment(f, grid, phase, roots, at);
    const long long edges = static_cast<long long>(__ldcg(&report.edges));
    clock.lap(report.augment_ns);
    if (me == 0) {
      report.levels[record] += at.levels - levels_before;
      report.gained[record] += roots - left;
    }
    done = left == roots || left == 0;
    roots = left;
    ++phase;
    if (done || edges > f.edges_at_most) break;
    next_frontier<kLanes>(f, grid, shared, phase, roots, reachable, at);
    clock.lap(report.graft_ns);
  }
  for (Index j = me; j < f.graph.cols; j += total) f.col_to_row[j] = mate_of(f.word[j]);
  if (me == 0) {
    report.phases = phase;
    report.levels_told = min(at.levels, kLevelRecords);
    report.done = done;
  }
}

}  // namespace motes::matching::device::forests
