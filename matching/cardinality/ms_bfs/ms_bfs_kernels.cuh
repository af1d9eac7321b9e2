#pragma once
/// `ms-bfs` and `ms-bfs-graft` (ms_bfs.h) on the GPU: all phases in one cooperative kernel.
///
/// A column's root and its mate share one 64-bit word, so that one read tells whether it can be taken and
/// which row comes next, and one exchange takes it. The parent of a column is stored as a row and that
/// row's own column, so that walking a path takes one read per step. Top-down, groups of lanes share chunks
/// of the frontier's edges (edge_chunks.cuh). Bottom-up, each group has a column; columns of many rows are
/// set aside, and each gets a block. Top-down, every block takes a part of the frontier and follows it
/// alone for several levels in shared memory, since a barrier of the grid takes longer than a level's
/// reads; only a very large frontier is followed level by level. So trees may be some levels deeper in one
/// block than in another, which is valid: a forest needs no levels. A frontier of few chunks is explored
/// top-down whatever the rule of direction says. The sets that Algorithm 7 needs are found by a pass over
/// all columns, as in the paper.
///
/// The races are those of the CPU form (ms_bfs.cpp). Top-down, a column is won by exchanging its word;
/// bottom-up, it belongs to one group. Only the winner writes its parent and its mate's root. If a tree has
/// several leaves, the last one written is used. A row's root is relied upon only if its tree has no leaf;
/// trees lose rows only between barriers, or by finding a leaf, which is recorded for good. So a root read
/// late names a tree that contains the row, or one that has a leaf. A parent is a row that was in its tree
/// before, so there are no cycles. There are three copies of each counter: in a round, one is read, one is
/// added to, one is cleared.

#include <cooperative_groups.h>

#include "matching/cardinality/ms_bfs/ms_bfs_levels.cuh"

namespace motes::matching::device::ms_bfs {

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

/// The whole grid must call it.
__device__ inline void put_roots(const Forest& f, Shared& shared, const Index* roots, int count,
                                 EdgeChunk* next, int* next_count) {
  for (int k = gpu::thread_index(); k < count; k += gpu::thread_total()) {
    const Index i = roots[k];
    for_chunks(i, -1, f.graph.row_offsets[i], f.graph.row_offsets[i + 1],
               [&](const EdgeChunk& some) { shared.staging.put(some, next, next_count); });
  }
  shared.staging.flush(next, next_count);
}

/// Step 1 of Algorithm 3: the forest grows until the frontier is empty.
template <int kLanes>
__device__ void grow(const Forest& f, const cooperative_groups::grid_group& grid, Shared& shared,
                     ForestProgress& at, Clock& clock) {
  Report& report = *f.report;
  const int me = gpu::thread_index(), total = gpu::thread_total();
  int ups = 0;  // bottom-up rounds so far; from the second on, lists hold the columns that may be in no tree
  for (;;) {
    const int count = __ldcg(report.frontier + at.round % 3);
    if (count == 0) return;
    const int after = (at.round + 1) % 3;
    if (me == 0) {
      const int clear = (at.round + 2) % 3;
      report.frontier[clear] = report.hops[clear] = report.grown[clear] = 0;
      report.joined[clear] = 0;
      if (at.levels < kLevelRecords) f.level_rows[at.levels] = at.rows;
    }
    const bool up = count > kFew && f.direction && at.rows * f.alpha >= at.unseen;
    const bool apart = !up && count <= kApart * static_cast<int>(gridDim.x);
    if (apart) {
      search_apart<kLanes>(f, shared, count, count <= kThin ? kThinHops : kHops, at);
    } else {
      EdgeChunk* next = f.frontier[1 - at.side];
      int* next_count = report.frontier + after;
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
        const EdgeChunk* now = f.frontier[at.side];
        for (int k = spread_group<kLanes>(); k < count; k += total / kLanes)
          at.edges += downwards<kLanes>(
              f, now[k], joined, [&](const EdgeChunk& some) { shared.staging.put(some, next, next_count); });
      }
      tell(shared, joined, next, next_count, report.joined + after);
      if (me == 0) report.hops[after] = 1;
    }
    grid.sync();
    ++at.round;
    at.levels += __ldcg(report.hops + after);
    at.side = 1 - at.side;
    const unsigned long long came = __ldcg(report.joined + after);
    at.rows = static_cast<int>(came & 0xffffffffU);
    at.unseen -= at.rows + static_cast<int>(came >> 32);
    clock.lap(apart ? report.apart_ns : up ? report.up_ns : report.down_ns);
  }
}

/// Step 2: flips each tree's path. Returns how many roots are left, in the phase's other list.
__device__ inline int augment(const Forest& f, const cooperative_groups::grid_group& grid, int phase,
                              int roots, ForestProgress& at) {
  Report& report = *f.report;
  int* left = report.roots + (phase + 1) % 2;
  for (int k = spread_group<1>(); k < roots; k += gpu::thread_total()) {
    const Index i = f.roots[phase % 2][k], leaf = f.leaf[i];
    if (leaf == -1)
      f.roots[(phase + 1) % 2][place_in(left)] = i;
    else
      atomicAdd(&report.path_edges, static_cast<unsigned long long>(flip(f, leaf, static_cast<unsigned>(i))));
  }
  for (int step = 16; step > 0; step /= 2) at.edges += __shfl_xor_sync(0xffffffffU, at.edges, step);
  if (threadIdx.x % 32 == 0 && at.edges > 0) atomicAdd(&report.edges, at.edges);
  at.edges = 0;
  if (gpu::thread_index() == 0) {
    // Other threads may still be reading the counters of the round that has just ended.
    for (const int ahead : {1, 2}) {
      const int clear = (at.round + ahead) % 3;
      report.frontier[clear] = report.hops[clear] = report.grown[clear] = 0;
      report.joined[clear] = 0;
    }
    report.unseen[0] = report.unseen[1] = report.unseen[2] = report.renewable = report.active = 0;
  }
  grid.sync();
  return __ldcg(left);
}

/// Step 3, Algorithm 7. Active rows are the mates of active columns, and the roots.
template <int kLanes>
__device__ void next_frontier(const Forest& f, const cooperative_groups::grid_group& grid, Shared& shared,
                              int phase, int roots, int reachable, ForestProgress& at) {
  Report& report = *f.report;
  const int me = gpu::thread_index(), total = gpu::thread_total();
  int active = 0;
  for (Index j = me; j < f.graph.cols; j += total) {
    const Word word = f.word[j];
    if (root_of(word) == kNone) continue;
    if (f.leaf[root_of(word)] == -1) {
      ++active;
      continue;
    }
    f.word[j] = word_of(kNone, mate_of(word));
    put_left(shared, j, f.unseen[0], &report.renewable);
  }
  flush_left(shared, f.unseen[0], &report.renewable);
  active = static_cast<int>(__reduce_add_sync(0xffffffffU, active));
  if (threadIdx.x % 32 == 0 && active > 0) atomicAdd(&report.active, active);
  if (me == 0) {
    report.roots[(phase + 1) % 2] = 0;
    report.joined[at.round % 3] = 0;
  }
  grid.sync();
  const int renewable = __ldcg(&report.renewable);
  active = __ldcg(&report.active);
  EdgeChunk* next = f.frontier[at.side];
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
  extern __shared__ EdgeChunk memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const auto grid = cooperative_groups::this_grid();
  const int me = gpu::thread_index(), total = gpu::thread_total();
  Report& report = *f.report;
  Clock clock;
  if (threadIdx.x == 0)
    shared.staging.count = shared.left_count = shared.rows = shared.leaves = shared.hubs = 0;
  __syncthreads();
  int free_rows = 0;
  for (Index i = me; i < f.graph.rows; i += total) {
    const bool free = f.row_to_col[i] == -1;
    const bool root = free && f.graph.row_offsets[i] != f.graph.row_offsets[i + 1];
    f.row_root[i] = root ? static_cast<unsigned>(i) : kNone;
    f.leaf[i] = -1;
    free_rows += free;
    if (root) f.roots[0][place_in(report.roots)] = i;
  }
  free_rows = static_cast<int>(__reduce_add_sync(0xffffffffU, free_rows));
  if (threadIdx.x % 32 == 0 && free_rows > 0) atomicAdd(&report.free_rows, free_rows);
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
  ForestProgress at;
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
      f.record[record].levels += at.levels - levels_before;
      f.record[record].gained += roots - left;
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

}  // namespace motes::matching::device::ms_bfs
