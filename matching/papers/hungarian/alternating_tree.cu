/// The alternating-tree variant on the GPU: the search of tree_search.h, round for round, in one
/// cooperative kernel that runs from the first forest to the last without the host.
///
/// Dense and geometric costs: each block owns a range of columns (Algorithm 4's one thread a column, widened:
/// a thread takes four neighbouring columns, and the block's threads share the rows of the frontier out). The
/// labels of a column are written by its owner alone, so that a round needs no atomics but for the list it
/// leaves, and one grid barrier. Sparse costs: a warp takes a row; least offer, least rank of the rows that
/// make it, and labels are separate steps with barriers between them.
///
/// Races, all harmless: lists are filled in any order, and nothing depends on their order; minima are formed
/// by atomics, and the same in any order. Every other shared value is written before a barrier and
/// read behind it. Counters come in threes: of round r, one is read, one added to, and one cleared.

#include "matching/papers/hungarian/band.h"
#include "matching/papers/hungarian/column_scan.cuh"
#include "matching/papers/hungarian/device_hungarian.h"
#include "matching/papers/hungarian/search.cuh"

namespace motes::matching::device {
namespace hungarian {
namespace {

namespace cg = cooperative_groups;

/// Counters shared by all blocks; see the races above.
struct Counters {
  int frontier[3], touched[3], roots[3];
  int ended[3], new_ends[3];                        ///< trees with an end; ends of this band
  Cost nearest_exit[3], collision[3], last_end[3];  ///< by search
  Cost nearest[3];                                  ///< by band
};

template <class Entries>
struct Forest : Search<Entries> {
  Index owned;          ///< columns a block owns
  Cost* key;            ///< [cols] distance from the nearest root, kFar: none
  Index* tree;          ///< [cols] of an end: its root
  Active* frontier[2];  ///< [rows]
  Cost* end_key;        ///< [rows] of a root: distance of its nearest end
  Cost* offer;          ///< [cols] sparse: this round's least offer, kFar: none
  unsigned* rank;       ///< [cols] sparse: least rank of the rows that made it
  Index* touched;       ///< [cols] sparse: columns with an offer
  Counters* counters;
};

struct Scratch {
  ScanScratch scan;
  Cost least[kBlock / kWarp];
};

struct TreeProgress : SearchProgress {
  long long band_number = 0;
  detail::Band band;
};

template <class Entries>
__device__ void push(const Forest<Entries>& f, const TreeProgress& at, Index row, Cost key) {
  const int place = atomicAdd(f.counters->frontier + at.next(), 1);
  f.frontier[(at.round + 1) % 2][place] = {key - f.s.u[row], row};
}

template <class Entries>
__device__ void label(const Forest<Entries>& f, const TreeProgress& at, Index j, Cost key, unsigned rank) {
  f.key[j] = key;
  f.pred[j] = detail::row_of_rank(rank, detail::scramble(j));
  const Index mate = f.s.col_to_row[j];
  if (key <= at.band.reach && mate != -1) push(f, at, mate, key);
}

/// One round over the columns this block owns.
template <class Entries>
__device__ void scan_owned(const Forest<Entries>& f, const TreeProgress& at, int count, Scratch& shared) {
  const Active* frontier = f.frontier[at.round % 2];
  const Offset begin = static_cast<Offset>(blockIdx.x) * f.owned;
  const Offset end = min(begin + f.owned, static_cast<Offset>(f.p.cols));
  scan_columns(
      ColumnLabels<Entries>{f.p.entries, f.vectors, 0, f.s.v, f.key}, begin, end, count, shared.scan,
      [&](int t) { return frontier[t]; },
      [&](Index j, Cost key, unsigned rank) { label(f, at, j, key, rank); });
}

/// One round over the rows of the frontier, a warp each.
__device__ void scan_rows(const Forest<SparseEntries>& f, const TreeProgress& at, int count,
                          const cg::grid_group& grid) {
  const Active* frontier = f.frontier[at.round % 2];
  const int lane = threadIdx.x % kWarp, warps = thread_total() / kWarp;
  for (int t = thread_index() / kWarp; t < count; t += warps) {
    const Active a = frontier[t];
    const auto row = static_cast<Index>(a.row);
    f.p.entries.for_each(row, lane, kWarp, [&](Index j, Cost c) {
      const Cost offer = a.base + c - f.s.v[j];
      if (offer < f.key[j]) atomic_min(f.offer + j, offer);
    });
  }
  if (thread_index() == 0) f.counters->touched[(at.round + 1) % 3] = 0;
  grid.sync();
  for (int t = thread_index() / kWarp; t < count; t += warps) {
    const Active a = frontier[t];
    const auto row = static_cast<Index>(a.row);
    f.p.entries.for_each(row, lane, kWarp, [&](Index j, Cost c) {
      const Cost offer = a.base + c - f.s.v[j];
      if (offer >= f.key[j] || offer != f.offer[j]) return;
      const unsigned before = atomicMin(f.rank + j, detail::rank_of(row, detail::scramble(j)));
      if (before == detail::kNoRank) f.touched[atomicAdd(f.counters->touched + at.now(), 1)] = j;
    });
  }
  grid.sync();
  const int touched = f.counters->touched[at.now()];
  for (int t = thread_index(); t < touched; t += thread_total()) {
    const Index j = f.touched[t];
    label(f, at, j, f.offer[j], f.rank[j]);
    f.offer[j] = detail::kFar;
    f.rank[j] = detail::kNoRank;
  }
}

/// The distance of a row of the forest from its exit.
template <class Entries>
__device__ Cost exit_key(const Forest<Entries>& f, Index row, Cost distance) {
  const Cost exit = f.p.exit_of(row);
  return exit == kInfiniteCost ? detail::kFar : min(detail::kFar, distance + exit - f.s.u[row]);
}

/// *to = min(*to, value) over the block, one atomic a block.
__device__ void block_min(Cost value, Cost* to, Scratch& shared) {
  value = warp_min(value);
  if (threadIdx.x % kWarp == 0) shared.least[threadIdx.x / kWarp] = value;
  __syncthreads();
  if (threadIdx.x < kWarp) {
    value = threadIdx.x < kBlock / kWarp ? shared.least[threadIdx.x] : detail::kFar;
    value = warp_min(value);
    if (threadIdx.x == 0 && value < detail::kFar) atomic_min(to, value);
  }
  __syncthreads();
}

/// Visits the columns that a block owns, divided among its threads.
template <class Entries, class F>
__device__ void for_owned(const Forest<Entries>& f, F&& body) {
  const Offset begin = static_cast<Offset>(blockIdx.x) * f.owned;
  const Offset end = min(begin + f.owned, static_cast<Offset>(f.p.cols));
  for (Offset j = begin + threadIdx.x; j < end; j += kBlock) body(static_cast<Index>(j));
}

/// Closes the labels in (closed, reach], which are final; finds the least label beyond, and the trees with a
/// first end.
template <class Entries>
__device__ void close_band(const Forest<Entries>& f, const TreeProgress& at, Cost closed, Scratch& shared) {
  Counters& n = *f.counters;
  const int search = static_cast<int>(at.search % 3), band = static_cast<int>(at.band_number % 3);
  Cost nearest = detail::kFar, nearest_exit = detail::kFar;
  for_owned(f, [&](Index j) {
    const Cost key = f.key[j];
    if (key > at.band.reach) {
      nearest = min(nearest, key);
      return;
    }
    if (key <= closed) return;
    const Index mate = f.s.col_to_row[j];
    if (mate != -1) {
      nearest_exit = min(nearest_exit, exit_key(f, mate, key));
      return;
    }
    const Index root = root_of(f, f.pred[j]);
    f.tree[j] = root;
    atomicAdd(n.new_ends + band, 1);
    const auto before =
        atomicMin(reinterpret_cast<long long*>(f.end_key + root), static_cast<long long>(key));
    if (before == detail::kFar) atomicAdd(n.ended + search, 1);
  });
  block_min(nearest, n.nearest + band, shared);
  if (f.p.row_exit != nullptr) block_min(nearest_exit, n.nearest_exit + search, shared);
}

/// Behind a barrier: the column of each tree's nearest end, and the nearest end that comes second in its
/// tree.
template <class Entries>
__device__ void settle_ends(const Forest<Entries>& f, const TreeProgress& at, Cost closed) {
  const int search = static_cast<int>(at.search % 3);
  for_owned(f, [&](Index j) {
    const Cost key = f.key[j];
    if (key > at.band.reach || key <= closed || f.s.col_to_row[j] != -1) return;
    const Index root = f.tree[j];
    bool second = key != f.end_key[root];
    if (!second) {
      second = atomicMin(f.end + root, static_cast<unsigned>(j)) != detail::kNoRank;
      atomicMax(reinterpret_cast<long long*>(f.counters->last_end + search), static_cast<long long>(key));
    }
    if (second) atomic_min(f.counters->collision + search, key);
  });
}

/// Forward pass. Returns by how much the roots' duals rise, or -1: some vertex cannot be matched.
template <class Entries>
__device__ Cost grow(const Forest<Entries>& f, TreeProgress& at, int roots, Scratch& shared,
                     const cg::grid_group& grid) {
  Counters& n = *f.counters;
  const int search = static_cast<int>(at.search % 3);
  at.band.reach = 0;
  at.band.scanned = 0;
  for_owned(f, [&](Index j) { f.key[j] = detail::kFar; });
  Cost exits = detail::kFar;
  for (int k = thread_index(); k < roots; k += thread_total()) {
    const Index i = f.roots[at.search % 2][k];
    f.frontier[(at.round + 1) % 2][k] = {-f.s.u[i], i};
    f.end_key[i] = detail::kFar;
    f.end[i] = f.exit[i] = detail::kNoRank;
    exits = min(exits, exit_key(f, i, 0));
  }
  if (f.p.row_exit != nullptr) block_min(exits, n.nearest_exit + search, shared);
  if (thread_index() == 0) {
    n.frontier[at.next()] = roots;
    n.frontier[(at.round + 2) % 3] = 0;
  }
  grid.sync();
  ++at.round;
  for (Cost closed = -1;;) {
    for (int count = n.frontier[at.now()]; count > 0; count = n.frontier[at.now()]) {
      at.band.scanned += count;
      if (thread_index() == 0) {
        n.frontier[(at.round + 2) % 3] = 0;
        ++f.report->rounds;
      }
      if constexpr (std::is_same_v<Entries, SparseEntries>)
        scan_rows(f, at, count, grid);
      else
        scan_owned(f, at, count, shared);
      grid.sync();
      ++at.round;
    }
    const int band = static_cast<int>(at.band_number % 3);
    close_band(f, at, closed, shared);
    if (thread_index() == 0) {
      n.frontier[(at.round + 2) % 3] = 0;
      n.touched[at.next()] = 0;
      n.nearest[(at.band_number + 1) % 3] = detail::kFar;
      n.new_ends[(at.band_number + 1) % 3] = 0;
    }
    grid.sync();
    if (n.new_ends[band] > 0) {
      settle_ends(f, at, closed);
      grid.sync();
    }
    ++at.band_number;
    const Cost nearest = n.nearest[band];
    const Cost limit = f.p.perfect ? detail::kFar : min(n.nearest_exit[search], n.collision[search]);
    const bool exhausted = nearest >= detail::kFar;
    const int ended = n.ended[search];
    if (!f.p.perfect && limit < detail::kFar && (limit <= at.band.reach || limit <= nearest)) return limit;
    if (ended >= detail::trees_wanted(roots) || (exhausted && ended > 0)) return n.last_end[search];
    if (exhausted) return -1;
    closed = at.band.reach;
    at.band.advance(nearest, limit);
    for_owned(f, [&](Index j) {
      const Index mate = f.s.col_to_row[j];
      if (f.key[j] > closed && f.key[j] <= at.band.reach && mate != -1) push(f, at, mate, f.key[j]);
    });
    grid.sync();
    ++at.round;
  }
}

/// Exits at distance `rise` end trees that have no nearer end: the least row of each.
template <class Entries>
__device__ void choose_exits(const Forest<Entries>& f, const TreeProgress& at, int roots, Cost rise) {
  const auto offer = [&](Index row, Cost distance) {
    if (exit_key(f, row, distance) != rise) return;
    const Index root = root_of(f, row);
    if (f.end_key[root] > rise) atomicMin(f.exit + root, static_cast<unsigned>(row));
  };
  for (int k = thread_index(); k < roots; k += thread_total()) offer(f.roots[at.search % 2][k], 0);
  for_owned(f, [&](Index j) {
    if (f.key[j] <= rise && f.s.col_to_row[j] != -1) offer(f.s.col_to_row[j], f.key[j]);
  });
}

template <class Entries>
__device__ void update_duals(const Forest<Entries>& f, const TreeProgress& at, int roots, Cost rise) {
  if (!f.p.perfect)
    for (int k = thread_index(); k < roots; k += thread_total()) f.s.u[f.roots[at.search % 2][k]] += rise;
  for_owned(f, [&](Index j) {
    // Perfect: everything beyond the forest moves instead of the roots (tree_search.h).
    const Cost by = f.p.perfect ? min(rise, f.key[j]) : min(rise, f.key[j]) - rise;
    f.s.v[j] += by;
    const Index mate = f.s.col_to_row[j];
    if (mate != -1) f.s.u[mate] -= by;
  });
}

template <class Entries>
__global__ void __launch_bounds__(kBlock, 1) forest_kernel(Forest<Entries> f) {
  __shared__ Scratch shared;
  const auto grid = cg::this_grid();
  Counters& n = *f.counters;
  list_roots(f, n.roots);
  grid.sync();
  Clock clock(f.report);
  TreeProgress at;
  for (int roots = n.roots[0]; roots > 0; roots = n.roots[at.search % 3]) {
    if (thread_index() == 0) {
      const auto next = (at.search + 1) % 3;
      n.roots[next] = n.ended[next] = 0;
      n.nearest_exit[next] = n.collision[next] = detail::kFar;
      n.last_end[next] = 0;
    }
    const Cost rise = grow(f, at, roots, shared, grid);
    clock.charge(kForward);
    if (rise < 0) {
      if (thread_index() == 0) f.report->infeasible = 1;
      break;
    }
    if (!f.p.perfect && n.nearest_exit[at.search % 3] == rise) {
      choose_exits(f, at, roots, rise);
      grid.sync();
      clock.charge(kReverse);
    }
    update_duals(f, at, roots, rise);
    grid.sync();
    clock.charge(kDuals);
    augment(f, at.search, roots, n.roots + (at.search + 1) % 3,
            [&](Index root) { return f.end_key[root] <= rise; });
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
  for (int k = 0; k < 3; ++k)
    counters.nearest_exit[k] = counters.collision[k] = counters.nearest[k] = detail::kFar;
  const auto prepare = [&](Forest<Entries>& f) {
    const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
    const std::size_t labels = std::is_same_v<Entries, SparseEntries> ? cols : 0;
    f.counters = arena.upload(std::span<const Counters>(&counters, 1));
    f.key = arena.take<Cost>(cols);
    f.tree = arena.take<Index>(cols);
    for (Active*& frontier : f.frontier) frontier = arena.take<Active>(rows);
    f.end_key = arena.take<Cost>(rows);
    f.offer = arena.take<Cost>(labels);
    f.rank = arena.take_filled<unsigned>(labels, 0xff);
    f.touched = arena.take<Index>(labels);
    if (labels > 0) {
      fill_costs_kernel<<<4 * arena.multiprocessors(), kThreads, 0, arena.stream()>>>(f.offer, p.cols,
                                                                                      detail::kFar);
      MOTES_CUDA_LAUNCHED();
    }
    const Index wanted = std::max<Index>(1, labels > 0 ? (p.rows + 15) / 16 : (p.cols + 7) / 8);
    const int blocks = std::min<int>(cooperative_blocks(arena, forest_kernel<Entries>, kBlock, 1), wanted);
    f.owned = ((p.cols + blocks - 1) / blocks + 7) / 8 * 8;
    return blocks;
  };
  return solve_in_one_launch(arena, sides, p, start, forest_kernel<Entries>, kBlock, prepare);
}

}  // namespace

template <class Entries>
detail::Solution solve_by_forests(gpu::Arena& arena, const CanonicalSides& sides,
                                  const DeviceCanonical<Entries>& p, const Start& start) {
  DeviceSolution found = solve(arena, sides, p, start);
  return {arena.download(found.row_to_col, static_cast<std::size_t>(p.rows)),
          arena.download(found.v, static_cast<std::size_t>(p.cols)), found.infeasible,
          std::move(found.stats)};
}
template detail::Solution solve_by_forests(gpu::Arena&, const CanonicalSides&,
                                           const DeviceCanonical<DenseEntries<std::int32_t>>&, const Start&);
template detail::Solution solve_by_forests(gpu::Arena&, const CanonicalSides&,
                                           const DeviceCanonical<DenseEntries<std::int64_t>>&, const Start&);
template detail::Solution solve_by_forests(gpu::Arena&, const CanonicalSides&,
                                           const DeviceCanonical<DenseEntries<float>>&, const Start&);
template detail::Solution solve_by_forests(gpu::Arena&, const CanonicalSides&,
                                           const DeviceCanonical<DenseEntries<double>>&, const Start&);
template detail::Solution solve_by_forests(gpu::Arena&, const CanonicalSides&,
                                           const DeviceCanonical<GeometricEntries>&, const Start&);

}  // namespace hungarian

Matching solve_by_trees(const Execution& execution, const CostsView& problem, const Start& start) {
  return solve_on_device(execution, problem,
                         [&](gpu::Arena& arena, const CanonicalSides& sides, const auto& p) {
                           return hungarian::solve(arena, sides, p, start);
                         });
}

}  // namespace motes::matching::device
