/// The classical variant on the GPU: the search of cover_search.h, level for level, in one
/// cooperative kernel. Zeros are not stored: a row that may have new ones is read again, and claims its
/// columns at once. A warp takes up to kRows active rows of 128 columns (sparse: one whole row).
///
/// Races, all harmless: lists are filled in any order, and nothing depends on their order; minima and counts
/// are formed by atomics, and the same in any order. Every other shared value is written before a
/// barrier and read behind it. Counters come in threes: of a round, one is read, one added to, one cleared.

#include "matching/papers/hungarian/device_hungarian.h"
#include "matching/papers/hungarian/row_scan.cuh"
#include "matching/papers/hungarian/search.cuh"

namespace motes::matching::device {
namespace hungarian {
namespace {

namespace cg = cooperative_groups;

constexpr int kBlock = 512;

/// Counters shared by all blocks; see the races above.
struct Counters {
  int active[3], roots[3], ends[3];
  Cost theta[3];
};

template <class Entries>
struct Covers : Search<Entries> {
  char *in_tree, *covered;  ///< [rows], [cols]
  Cost* slack;              ///< [rows] of a tree's row: no more than its least slack to an uncovered column
  unsigned* claim;          ///< [cols] least rank of this level's rows with a zero there, kNoRank: none
  Index* active[2];         ///< [rows]
  Counters* counters;
};

template <class Entries>
__device__ void activate(const Covers<Entries>& f, const SearchProgress& at, Index row) {
  f.active[(at.round + 1) % 2][atomicAdd(f.counters->active + at.next(), 1)] = row;
}
template <class Entries>
__device__ void count_end(const Covers<Entries>& f, const SearchProgress& at) {
  atomicAdd(f.counters->ends + at.search % 3, 1);
}
template <class Entries>
__device__ void enter(const Covers<Entries>& f, const SearchProgress& at, Index row) {
  f.in_tree[row] = 1;
  f.slack[row] = detail::kFar;
  if (f.s.u[row] == f.p.exit_of(row)) count_end(f, at);
  activate(f, at, row);
}

/// The active rows claim the uncovered columns in which they have zeros, and store their least slack
/// elsewhere.
template <class Entries>
__device__ void read_rows(const Covers<Entries>& f, const Index* active, int count) {
  read_rows(RowScan<Entries>{f.p.entries, f.vectors, 0, f.covered, f.s.u, f.s.v, f.slack, f.claim}, active,
            count);
}
__device__ void read_rows(const Covers<SparseEntries>& f, const Index* active, int count) {
  const int lane = threadIdx.x % kWarp;
  for (int t = thread_index() / kWarp; t < count; t += thread_total() / kWarp) {
    const Index i = active[t];
    const Cost u = f.s.u[i];
    Cost least = detail::kFar;
    f.p.entries.for_each(i, lane, kWarp, [&](Index j, Cost c) {
      const Cost slack = c - u - f.s.v[j];
      if (f.covered[j] != 0) return;
      if (slack == 0)
        atomicMin(f.claim + j, detail::rank_of(i, detail::scramble(j)));
      else
        least = min(least, slack);
    });
    least = warp_min(least);
    if (lane == 0) f.slack[i] = least;
  }
}

/// Each column claimed goes to the row of least rank.
template <class Entries>
__device__ void cover(const Covers<Entries>& f, const SearchProgress& at) {
  for (Index j = thread_index(); j < f.p.cols; j += thread_total()) {
    const unsigned claim = f.claim[j];
    if (claim == detail::kNoRank) continue;
    f.claim[j] = detail::kNoRank;
    f.pred[j] = detail::row_of_rank(claim, detail::scramble(j));
    f.covered[j] = 1;
    const Index mate = f.s.col_to_row[j];
    if (mate == -1)
      count_end(f, at);
    else
      enter(f, at, mate);
  }
}

/// Forward pass and dual updates until some tree has an end. False: some vertex cannot be matched.
template <class Entries>
__device__ bool search(const Covers<Entries>& f, SearchProgress& at, int roots, Clock& clock,
                       const cg::grid_group& grid) {
  Counters& n = *f.counters;
  const auto clear = [&] {
    if (thread_index() != 0) return;
    n.active[(at.round + 2) % 3] = 0;
    n.theta[at.next()] = detail::kFar;
  };
  for (Index i = thread_index(); i < f.p.rows; i += thread_total()) f.in_tree[i] = 0;
  for (Index j = thread_index(); j < f.p.cols; j += thread_total()) f.covered[j] = 0;
  clear();
  grid.sync();
  for (int k = thread_index(); k < roots; k += thread_total()) {
    const Index root = f.roots[at.search % 2][k];
    f.end[root] = f.exit[root] = detail::kNoRank;
    enter(f, at, root);
  }
  while (true) {
    grid.sync();
    ++at.round;
    const int count = n.active[at.now()];
    clear();
    if (count > 0) {
      if (thread_index() == 0) ++f.report->rounds;
      read_rows(f, f.active[at.round % 2], count);
      grid.sync();
      cover(f, at);
      continue;
    }
    clock.charge(kForward);
    if (n.ends[at.search % 3] > 0) return true;
    Cost theta = detail::kFar;
    for (Index i = thread_index(); i < f.p.rows; i += thread_total()) {
      if (f.in_tree[i] == 0) continue;
      theta = min(theta, f.slack[i]);
      const Cost exit = f.p.exit_of(i);
      if (exit != kInfiniteCost) theta = min(theta, exit - f.s.u[i]);
    }
    theta = warp_min(theta);
    if (threadIdx.x % kWarp == 0 && theta < n.theta[at.now()]) atomic_min(n.theta + at.now(), theta);
    grid.sync();
    theta = n.theta[at.now()];
    if (theta == detail::kFar) return false;
    for (Index j = thread_index(); j < f.p.cols; j += thread_total())
      if (f.covered[j] != 0) f.s.v[j] -= theta;
    for (Index i = thread_index(); i < f.p.rows; i += thread_total()) {
      if (f.in_tree[i] == 0) continue;
      f.s.u[i] += theta;
      if (f.s.u[i] == f.p.exit_of(i)) count_end(f, at);
      if (f.slack[i] == detail::kFar) continue;
      f.slack[i] -= theta;
      if (f.slack[i] != 0) continue;
      f.slack[i] = detail::kFar;  // must be read again
      activate(f, at, i);
    }
    clock.charge(kDuals);
  }
}

/// Chooses one end for each tree: its least free column, else its least row with a tight exit.
template <class Entries>
__device__ void choose_ends(const Covers<Entries>& f) {
  for (Index j = thread_index(); j < f.p.cols; j += thread_total())
    if (f.covered[j] != 0 && f.s.col_to_row[j] == -1)
      atomicMin(f.end + root_of(f, f.pred[j]), static_cast<unsigned>(j));
  if (f.p.row_exit == nullptr) return;
  for (Index i = thread_index(); i < f.p.rows; i += thread_total())
    if (f.in_tree[i] != 0 && f.s.u[i] == f.p.exit_of(i))
      atomicMin(f.exit + root_of(f, i), static_cast<unsigned>(i));
}

template <class Entries>
__global__ void __launch_bounds__(kBlock, 1) covers_kernel(Covers<Entries> f) {
  const auto grid = cg::this_grid();
  Counters& n = *f.counters;
  list_roots(f, n.roots);
  grid.sync();
  Clock clock(f.report);
  SearchProgress at;
  for (int roots = n.roots[0]; roots > 0; roots = n.roots[at.search % 3]) {
    if (thread_index() == 0) n.roots[(at.search + 1) % 3] = n.ends[(at.search + 1) % 3] = 0;
    if (!search(f, at, roots, clock, grid)) {
      if (thread_index() == 0) f.report->infeasible = 1;
      break;
    }
    choose_ends(f);
    grid.sync();
    clock.charge(kReverse);
    augment(f, at.search, roots, n.roots + (at.search + 1) % 3,
            [&](Index root) { return f.end[root] != detail::kNoRank; });
    grid.sync();
    clock.charge(kAugmentation);
    ++at.search;
  }
  if (thread_index() == 0) f.report->phases = at.search;
}

template <class Entries>
DeviceSolution solve(gpu::Arena& arena, const CanonicalSides& sides, const DeviceCanonical<Entries>& p,
                     const Start& start) {
  Counters counters{};
  for (Cost& theta : counters.theta) theta = detail::kFar;
  const auto prepare = [&](Covers<Entries>& f) {
    const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
    f.counters = arena.upload(std::span<const Counters>(&counters, 1));
    f.in_tree = arena.take<char>(rows);
    f.covered = arena.take<char>(cols);
    f.slack = arena.take<Cost>(rows);
    f.claim = arena.take_filled<unsigned>(cols, 0xff);
    for (Index*& active : f.active) active = arena.take<Index>(rows);
    const Index wanted = std::max<Index>(1, (std::max(p.rows, p.cols) + 15) / 16);
    return std::min<int>(cooperative_blocks(arena, covers_kernel<Entries>, kBlock, 2), wanted);
  };
  return solve_in_one_launch(arena, sides, p, start, covers_kernel<Entries>, kBlock, prepare);
}

}  // namespace
}  // namespace hungarian

Matching solve_by_covers(const Execution& execution, const CostsView& problem, const Start& start) {
  return solve_on_device(execution, problem,
                         [&](gpu::Arena& arena, const CanonicalSides& sides, const auto& p) {
                           return hungarian::solve(arena, sides, p, start);
                         });
}

}  // namespace motes::matching::device
