#pragma once
/// The policy of core_solver.cuh for points.
///
/// Selection and pricing ask a tree (points/point_tree.cuh) the same question: for row i, which columns j
/// have the least c_ij - w_j, of those where it is below a limit? In selection w_j is the reference price of
/// the column, and there is no limit. In pricing w_j is its present price and the limit is u_i: the columns
/// found violate the duals. A node is skipped if even its nearest corner with its highest w reaches the
/// limit, or the worst of the pairs kept; both bounds are exact (the squared distance is converted to cost
/// steps with a margin, see reach_of). A warp serves a row: its lanes examine a node's 32 children or a
/// leaf's 32 points at once, and hold the sorted pairs kept, one each.

#include <algorithm>
#include <bit>

#include <cub/device/device_radix_sort.cuh>

#include <motes/base/communicator.h>

#include "matching/assignment/core/core_solver.cuh"
#include "matching/points/point_pairs.cuh"

namespace motes::matching::device::points {

using core::Additions;
using core::Core;

constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffffU;
/// If the gate allows at most this many pairs per row, the core has all of them.
constexpr int kCompletePerRow = 64;
/// Neighbours that the core begins with: by the prices that an auction on the first ones has found, if any.
constexpr int kFirstNeighbours = 16, kRowNeighbours = 20, kColNeighbours = 8;
/// Above all u_i + v_j; adding a price does not overflow.
constexpr Cost kNoLimit = Cost{1} << 62;

/// A query of one set's points to another's. All pointers are to device memory.
struct Question {
  GeometricEntries entries;  ///< rows: the points that ask
  PointTreeView from, to;
  const Cost* weight = nullptr;   ///< [to.count] w in the order of the tree; nullptr: 0
  const Cost* highest = nullptr;  ///< [to.nodes] the highest w of each node
  int wanted = 0;                 ///< at most 32
  Index begin = 0, end = 0;       ///< the places of from's order that ask
};

/// A squared distance from which on pairs cost at least `limit` (or are beyond the gate).
inline __device__ double reach_of(const GeometricEntries& e, double inverse_scale, double gate_reach,
                                  Cost limit) {
  if (limit <= 0) return 0;  // nothing costs less
  const double cost = (static_cast<double>(limit) + 1) * inverse_scale * (1 + 0x1p-40);
  return fmin(gate_reach, (e.metric == Metric::squared ? cost : cost * cost) + 0x1p-1022);
}

/// The best pairs found so far, by key c - w; lane l has the l-th one; lanes from `wanted` on have none.
struct Best {
  Cost key = kNoLimit, cost = 0;
  Index col = -1;

  __device__ Cost worst(int wanted) const { return __shfl_sync(kAll, key, wanted - 1); }

  /// Adds the lanes' offers that beat `limit`; returns the new limit. Of equal keys the first offer stays;
  /// offers are taken from lane `first` on, cyclically.
  __device__ Cost offer(int wanted, int first, Cost limit, Cost my_key, Cost my_cost, Index my_col) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    unsigned open = __ballot_sync(kAll, my_key < limit);
    while (open != 0) {
      const unsigned turned = __funnelshift_r(open, open, static_cast<unsigned>(first));
      const int source = (first + __ffs(static_cast<int>(turned)) - 1) % 32;
      const Cost k = __shfl_sync(kAll, my_key, source), c = __shfl_sync(kAll, my_cost, source);
      const Index j = __shfl_sync(kAll, my_col, source);
      const int place = __popc(__ballot_sync(kAll, key <= k));
      const Cost key_below = __shfl_up_sync(kAll, key, 1), cost_below = __shfl_up_sync(kAll, cost, 1);
      const Index col_below = __shfl_up_sync(kAll, col, 1);
      if (lane > place) key = key_below, cost = cost_below, col = col_below;
      if (lane == place) key = k, cost = c, col = j;
      if (lane >= wanted) key = kNoLimit;
      limit = min(limit, worst(wanted));
      open &= ~(1U << source) & __ballot_sync(kAll, my_key < limit);
    }
    return limit;
  }
};

/// The leaf that a greedy descent to p ends in. Of children equally near, the one closest to `place` in the
/// order is taken, so that the rows of many points at one position do not all find the same columns.
inline __device__ Index nearest_leaf(const PointTreeView& tree, Point p, Index place) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Index first = 0;
  for (int level = tree.levels - 1;; --level) {
    const Index node = first + lane, wanted = place >> (5 * (level + 1));
    double best = node < tree.level_size(level) ? tree.squared_to(p, tree.level_begin[level] + node)
                                                : std::numeric_limits<double>::infinity();
    Index gap = node < tree.level_size(level) ? abs(node - wanted) : INT32_MAX, found = node;
    for (int step = 16; step > 0; step /= 2) {
      const double other = __shfl_xor_sync(kAll, best, step);
      const Index other_gap = __shfl_xor_sync(kAll, gap, step),
                  other_found = __shfl_xor_sync(kAll, found, step);
      if (other < best || (other == best && (other_gap < gap || (other_gap == gap && other_found < found))))
        best = other, gap = other_gap, found = other_found;
    }
    if (level == 0) return found;
    first = found * PointTreeView::kFanout;
  }
}

/// Answers for row r of the order of `from`: the best pairs with key below `limit`. Deterministic.
inline __device__ Best ask(const Question& q, Index r, Cost limit) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const double inverse_scale = 1 / q.entries.scale, gate_reach = PointTreeView::beyond(q.entries.gate);
  const Point p{q.from.x[r], q.from.y[r], q.from.z[r]};
  // The position of this row among the points of the tree, if both had the same distribution.
  const auto place = static_cast<Index>(static_cast<Offset>(r) * q.to.count / q.from.count);
  Best best;
  const auto visit = [&](Index, Index k) {
    Cost key = kNoLimit, cost = kInfiniteCost;
    if (k != -1) cost = q.entries.cost_of(q.to.squared_to_point(p, k));
    if (cost != kInfiniteCost) key = cost - (q.weight == nullptr ? 0 : q.weight[k]);
    limit = best.offer(q.wanted, place % 32, limit, key, cost, k == -1 ? -1 : q.to.original[k]);
  };
  const Index leaf = nearest_leaf(q.to, p, place);
  visit(leaf, leaf * PointTreeView::kFanout + lane < q.to.count ? leaf * PointTreeView::kFanout + lane : -1);
  q.to.walk(
      p,
      [&](Index node, double squared) {
        const Cost room = limit + (q.highest == nullptr ? 0 : q.highest[node]);
        return node != leaf && squared < reach_of(q.entries, inverse_scale, gate_reach, room);
      },
      visit);
  return best;
}

inline __device__ Index warp_index() {
  return static_cast<Index>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
}
inline __device__ Index warp_total() { return static_cast<Index>(gridDim.x * (blockDim.x / 32)); }

/// Lists of neighbours, in device memory: `wanted` entries per row, of which `length` are valid. All but the
/// bounds either by row, or of the places [begin, end) of the order, in this order.
struct Lists {
  int wanted;
  Index* length;          ///< [rows]
  Index* col;             ///< [rows * wanted] nearest first
  Cost* cost;             ///< [rows * wanted]
  Cost* bound = nullptr;  ///< [rows] the promise of core_solver.cuh; nullptr: not asked for
  bool by_place = false;
};

[[maybe_unused]] static __global__ void __launch_bounds__(kThreads) neighbours_kernel(Question q, Lists out) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (Index r = q.begin + warp_index(); r < q.end; r += warp_total()) {
    const Best best = ask(q, r, kNoLimit);
    const Index i = q.from.original[r], row = out.by_place ? r - q.begin : i;
    const bool there = lane < q.wanted && best.key != kNoLimit;
    const Index length = __popc(__ballot_sync(kAll, there));
    const Cost worst = best.worst(q.wanted);
    if (there) {
      const Offset at = static_cast<Offset>(row) * q.wanted + lane;
      out.col[at] = best.col, out.cost[at] = best.cost;
    }
    if (lane != 0) continue;
    out.length[row] = length;
    if (out.bound != nullptr) out.bound[i] = length < q.wanted ? core::kNoBound : worst - 1;
  }
}

/// Of a column's neighbours, those pairs that the rows' lists lack: key = the row, else `rows`.
[[maybe_unused]] static __global__ void lacking_kernel(Lists rows, Lists cols, Index row_count,
                                                       Index col_count, Index* key, Index* extra) {
  for (Index j = warp_index(); j < col_count; j += warp_total()) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (lane >= cols.wanted) continue;
    const Offset at = static_cast<Offset>(j) * cols.wanted + lane;
    key[at] = row_count;
    if (lane >= cols.length[j]) continue;
    const Index i = cols.col[at];
    const Offset begin = static_cast<Offset>(i) * rows.wanted;
    bool found = false;
    for (Index k = 0; k < rows.length[i] && !found; ++k) found = rows.col[begin + k] == j;
    if (found) continue;
    key[at] = i;
    atomicAdd(extra + i, 1);
  }
}

[[maybe_unused]] static __global__ void sum_kernel(const Index* a, const Index* b, Index count, Index* sum) {
  for (Index k = search::thread_index(); k < count; k += search::thread_total()) sum[k] = a[k] + b[k];
}
[[maybe_unused]] static __global__ void places_kernel(Index count, Index* place) {
  for (Index k = search::thread_index(); k < count; k += search::thread_total()) place[k] = k;
}

/// The rows' own lists at the beginning of each row of the core.
[[maybe_unused]] static __global__ void fill_lists_kernel(Lists lists, Index rows, const Offset* offsets,
                                                          Index* col, Cost* cost) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (Index i = warp_index(); i < rows; i += warp_total()) {
    if (lane >= lists.length[i]) continue;
    const Offset from = static_cast<Offset>(i) * lists.wanted + lane, to = offsets[i] + lane;
    col[to] = lists.col[from], cost[to] = lists.cost[from];
  }
}
/// What the columns add, behind them: sorted by row, then by column.
[[maybe_unused]] static __global__ void fill_extra_kernel(Lists lists, Lists cols, const Index* key,
                                                          const Index* place, Index extras,
                                                          const Offset* extra_offsets, const Offset* offsets,
                                                          Index* col, Cost* cost) {
  for (Index s = search::thread_index(); s < extras; s += search::thread_total()) {
    const Index i = key[s];
    const Offset to = offsets[i] + lists.length[i] + (s - extra_offsets[i]);
    col[to] = place[s] / cols.wanted;
    cost[to] = cols.cost[place[s]];
  }
}

/// w in the order of the tree, and the leaves' highest.
[[maybe_unused]] static __global__ void leaf_highest_kernel(PointTreeView tree, const Cost* by_point,
                                                            Cost* weight, Cost* highest) {
  const Index whole = (tree.count + 31) / 32 * 32;
  for (Index k = search::thread_index(); k < whole; k += search::thread_total()) {
    Cost mine = -kNoLimit;
    if (k < tree.count) weight[k] = mine = by_point[tree.original[k]];
    for (int step = 16; step > 0; step /= 2) mine = max(mine, __shfl_xor_sync(kAll, mine, step));
    if (threadIdx.x % 32 == 0) highest[k / 32] = mine;
  }
}
[[maybe_unused]] static __global__ void node_highest_kernel(PointTreeView tree, int level, Cost* highest) {
  const Index size = tree.level_size(level - 1), whole = (size + 31) / 32 * 32;
  for (Index k = search::thread_index(); k < whole; k += search::thread_total()) {
    Cost mine = k < size ? highest[tree.level_begin[level - 1] + k] : -kNoLimit;
    for (int step = 16; step > 0; step /= 2) mine = max(mine, __shfl_xor_sync(kAll, mine, step));
    if (threadIdx.x % 32 == 0) highest[tree.level_begin[level] + k / 32] = mine;
  }
}

/// most = max_j (v_j - price_j), biased so that bytes of zero are below all.
constexpr Cost kBias = Cost{1} << 62;
[[maybe_unused]] static __global__ void most_risen_kernel(const Cost* v, const Cost* price, Index cols,
                                                          unsigned long long* most) {
  Cost mine = -kNoLimit;
  for (Index j = search::thread_index(); j < cols; j += search::thread_total())
    mine = max(mine, v[j] - price[j]);
  for (int step = 16; step > 0; step /= 2) mine = max(mine, __shfl_xor_sync(kAll, mine, step));
  if (threadIdx.x % 32 == 0) atomicMax(most, static_cast<unsigned long long>(mine + kBias));
}

struct Pricing {
  const Cost *u, *bound;           ///< [rows]
  const unsigned long long* most;  ///< of most_risen_kernel
  core::Found found;
  unsigned long long* rows_asked;
};

[[maybe_unused]] static __global__ void __launch_bounds__(kThreads) pricing_kernel(Question q, Pricing out) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Cost most = static_cast<Cost>(*out.most) - kBias;
  unsigned long long asked = 0;
  for (Index r = q.begin + warp_index(); r < q.end; r += warp_total()) {
    const Index i = q.from.original[r];
    const Cost u = out.u[i];
    if (out.bound[i] + 1 >= u + most) continue;
    ++asked;
    const Best best = ask(q, r, u);
    const bool there = best.key != kNoLimit;
    const int length = __popc(__ballot_sync(kAll, there));
    if (length == 0) continue;
    const Offset at = out.found.take(i, length) + lane;
    if (there) out.found.col[at] = best.col, out.found.cost[at] = best.cost;
  }
  if (lane == 0 && asked > 0) atomicAdd(out.rows_asked, asked);
}

inline int warp_blocks(const gpu::Arena& arena, Index rows) {
  constexpr int kRows = kThreads / 32;
  return std::clamp((rows + kRows - 1) / kRows, 1, 64 * arena.multiprocessors());
}

/// The policy of core_solver.cuh. Derived classes may let other ranks answer some of the questions.
class PointPolicy {
 public:
  virtual ~PointPolicy() = default;
  PointPolicy(gpu::Arena& arena, const DeviceCanonical<GeometricEntries>& p)
      : rows_(build_point_tree(arena, p.entries.row_x, p.entries.row_y, p.entries.row_z, p.rows)),
        cols_(build_point_tree(arena, p.entries.col_x, p.entries.col_y, p.entries.col_z, p.cols)),
        weight_(arena.take<Cost>(static_cast<std::size_t>(p.cols))),
        highest_(arena.take<Cost>(static_cast<std::size_t>(cols_.nodes))) {}

  /// The nearest neighbours miss pairs of an optimum if points have moved past each other; pricing would find
  /// these in many rounds. Prices of an auction on the neighbours find most of them at once.
  Core select(gpu::Arena& arena, const DeviceCanonical<GeometricEntries>& p, const search::State&,
              Cost* price, bool unpriced) {
    if (auto all = all_pairs(arena, p, kCompletePerRow)) return *all;
    return neighbours(arena, p, price, unpriced);
  }

  Additions price(gpu::Arena& arena, const DeviceCanonical<GeometricEntries>& p, const search::State& s,
                  const Cost* price, const Core& core) {
    if (complete_) return {};
    const Block asked = part_of(rows_);
    const auto rows = static_cast<std::size_t>(asked.count);
    weigh(arena, s.v);
    struct Counts {
      unsigned long long most, pairs, asked;
      Index rows;
    };
    auto* counts = arena.take_filled<Counts>(1, 0);
    most_risen_kernel<<<2 * arena.multiprocessors(), kThreads, 0, arena.stream()>>>(s.v, price, p.cols,
                                                                                    &counts->most);
    const Pricing out{
        s.u,
        core.bound,
        &counts->most,
        {arena.take<Index>(rows), arena.take<int>(rows), arena.take<Index>(rows * core::kAddedPerRow),
         arena.take<Cost>(rows * core::kAddedPerRow), &counts->rows, &counts->pairs},
        &counts->asked};
    pricing_kernel<<<warp_blocks(arena, asked.count), kThreads, 0, arena.stream()>>>(
        {p.entries, rows_, cols_, weight_, highest_, core::kAddedPerRow, asked.first,
         asked.first + asked.count},
        out);
    MOTES_CUDA_LAUNCHED();
    const Counts found = arena.download(counts, 1)[0];
    return {static_cast<Offset>(found.pairs),
            found.rows,
            out.found.row,
            out.found.length,
            out.found.col,
            out.found.cost};
  }

  detail::Solution solve_whole(gpu::Arena& arena, const CanonicalSides& sides,
                               const DeviceCanonical<GeometricEntries>& p);

 protected:
  /// The positions of an order whose points ask on this rank.
  virtual Block part_of(const PointTreeView& from) const { return {0, from.count}; }
  /// Whether this rank builds and solves the core.
  virtual bool leads() const { return true; }
  /// Answers a question; on the rank that builds the core, for all rows. `bound`: as in Lists, for the rows
  /// that ask here.
  virtual Lists answer(gpu::Arena& arena, Question q, Cost* bound) {
    const Lists out = lists(arena, q.wanted, static_cast<std::size_t>(q.from.count), bound);
    ask_here(arena, q, out);
    return out;
  }
  /// Sends the prices [cols] of the rank that builds the core to all.
  virtual void share(gpu::Arena&, Cost*, Index) {}

  void ask_here(gpu::Arena& arena, Question q, const Lists& out) const {
    const Block mine = part_of(q.from);
    q.begin = mine.first, q.end = mine.first + mine.count;
    neighbours_kernel<<<warp_blocks(arena, mine.count), kThreads, 0, arena.stream()>>>(q, out);
    MOTES_CUDA_LAUNCHED();
  }

  /// The core of neighbours, and the prices by which it was selected; on other ranks only its bounds.
  Core neighbours(gpu::Arena& arena, const DeviceCanonical<GeometricEntries>& p, Cost* price, bool unpriced) {
    const Lists of_cols = answer(
        arena, {detail::exchanged(p.entries), cols_, rows_, nullptr, nullptr, kColNeighbours}, nullptr);
    if (p.perfect && unpriced) {
      const auto mark = arena.mark();
      const Core first = priced_neighbours(arena, p, price, kFirstNeighbours, of_cols);
      if (leads())
        auction_prices(arena, {p.rows, p.cols, first.entries, nullptr, price, true}, first.pairs, price);
      share(arena, price, p.cols);
      arena.release(mark);
    }
    return priced_neighbours(arena, p, price, kRowNeighbours, of_cols);
  }

  static Lists lists(gpu::Arena& arena, int wanted, std::size_t rows, Cost* bound, bool by_place = false) {
    const std::size_t slots = rows * static_cast<std::size_t>(wanted);
    return {wanted,  arena.take<Index>(rows), arena.take<Index>(slots), arena.take<Cost>(slots), bound,
            by_place};
  }

  /// All allowed pairs, if there are at most `most_per_row` a row on average.
  std::optional<Core> all_pairs(gpu::Arena& arena, const DeviceCanonical<GeometricEntries>& p,
                                int most_per_row) {
    const bool bounded = p.entries.gate < std::numeric_limits<double>::infinity() || p.cols <= most_per_row;
    if (!bounded) return std::nullopt;
    const auto pairs = pairs_within_gate(arena, p.entries, rows_, cols_, most_per_row);
    if (!pairs) return std::nullopt;
    complete_ = true;
    return Core{{p.rows, p.cols, pairs->offsets, pairs->col, pairs->cost}, pairs->edges, nullptr};
  }
  bool complete() const { return complete_; }

 private:
  /// The core of each row's `wanted` cheapest pairs under the prices, and the columns' neighbours.
  Core priced_neighbours(gpu::Arena& arena, const DeviceCanonical<GeometricEntries>& p, const Cost* price,
                         int wanted, const Lists& of_cols) {
    weigh(arena, price);
    Core out;
    out.bound = arena.take<Cost>(static_cast<std::size_t>(p.rows));
    const Lists of_rows = answer(arena, {p.entries, rows_, cols_, weight_, highest_, wanted}, out.bound);
    if (leads()) join(arena, p, of_rows, of_cols, out);
    return out;
  }

  /// Rows' lists, and what the columns' add.
  static void join(gpu::Arena& arena, const DeviceCanonical<GeometricEntries>& p, const Lists& of_rows,
                   const Lists& of_cols, Core& out) {
    const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
    const auto stream = arena.stream();
    const int blocks = 8 * arena.multiprocessors();
    Offset* offsets = arena.take<Offset>(rows + 1);
    const std::size_t slots = cols * kColNeighbours;
    Index* key[2] = {arena.take<Index>(slots), arena.take<Index>(slots)};
    Index* place[2] = {arena.take<Index>(slots), arena.take<Index>(slots)};
    Index* extra = arena.take_filled<Index>(rows, 0);
    Offset* extra_offsets = arena.take<Offset>(rows + 1);
    lacking_kernel<<<warp_blocks(arena, p.cols), kThreads, 0, stream>>>(of_rows, of_cols, p.rows, p.cols,
                                                                        key[0], extra);
    places_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<Index>(slots), place[0]);
    MOTES_CUDA_LAUNCHED();
    cub::DoubleBuffer<Index> keys(key[0], key[1]), places(place[0], place[1]);
    const int bits = std::bit_width(static_cast<unsigned>(p.rows));
    std::size_t bytes = 0;
    MOTES_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, places, slots, 0, bits, stream));
    char* scratch = arena.take<char>(bytes);
    MOTES_CUDA(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, places, slots, 0, bits, stream));
    const Offset extras = scan_counts(arena, extra, p.rows, extra_offsets);
    sum_kernel<<<blocks, kThreads, 0, stream>>>(of_rows.length, extra, p.rows, extra);
    MOTES_CUDA_LAUNCHED();
    out.pairs = scan_counts(arena, extra, p.rows, offsets);
    Index* col = arena.take<Index>(static_cast<std::size_t>(out.pairs));
    Cost* cost = arena.take<Cost>(static_cast<std::size_t>(out.pairs));
    fill_lists_kernel<<<warp_blocks(arena, p.rows), kThreads, 0, stream>>>(of_rows, p.rows, offsets, col,
                                                                           cost);
    fill_extra_kernel<<<blocks, kThreads, 0, stream>>>(of_rows, of_cols, keys.Current(), places.Current(),
                                                       static_cast<Index>(extras), extra_offsets, offsets,
                                                       col, cost);
    MOTES_CUDA_LAUNCHED();
    out.entries = {p.rows, p.cols, offsets, col, cost};
  }

  void weigh(gpu::Arena& arena, const Cost* by_col) {
    const int blocks = 8 * arena.multiprocessors();
    leaf_highest_kernel<<<blocks, kThreads, 0, arena.stream()>>>(cols_, by_col, weight_, highest_);
    for (int level = 1; level < cols_.levels; ++level)
      node_highest_kernel<<<std::min(blocks, cols_.level_begin[level] / kThreads + 1), kThreads, 0,
                            arena.stream()>>>(cols_, level, highest_);
    MOTES_CUDA_LAUNCHED();
  }

  PointTreeView rows_, cols_;
  Cost *weight_, *highest_;
  bool complete_ = false;
};

inline detail::Solution PointPolicy::solve_whole(gpu::Arena& arena, const CanonicalSides& sides,
                                                 const DeviceCanonical<GeometricEntries>& p) {
  struct Whole {
    PointPolicy& policy;
    Core select(gpu::Arena& a, const DeviceCanonical<GeometricEntries>& q, const search::State&, Cost*,
                bool) {
      return *policy.all_pairs(a, q, q.cols);
    }
    Additions price(gpu::Arena&, const DeviceCanonical<GeometricEntries>&, const search::State&, const Cost*,
                    const Core&) {
      return {};
    }
    detail::Solution solve_whole(gpu::Arena&, const CanonicalSides&,
                                 const DeviceCanonical<GeometricEntries>&) {
      return {};
    }
  } whole{*this};
  return core::solve(arena, sides, p, {}, whole);
}

}  // namespace motes::matching::device::points
