#pragma once
/// `jv` on the GPU for costs too many to store: a core of cheap pairs is solved, then checked against all
/// pairs.
///
/// The loop is that of core_solver.cpp, in device memory. A policy for each kind of costs provides the
/// pairs:
///
///   Core select(arena, p, s, price, unpriced)
///                                      the first core. `price` [cols] are reference prices (see below): on
///                                      entry s.v; the policy may replace them if the problem is perfect and
///                                      no prices were given (`unpriced`)
///   Additions price(arena, p, s, price, core)
///                                      pairs outside the core with c_ij < u_i + v_j, at most kAddedPerRow
///                                      per row, of every row that has any; none: certified. In memory of the
///                                      policy, which is kept from round to round
///   Solution solve_whole(arena, sides, p)
///                                      solves without a core, from scratch
/// and, if it can compute better prices,
///   bool can_anneal(p)                 whether it can
///   bool anneal(arena, p, price)       stores annealed prices (annealing.cuh) in `price`; false if it
///   cannot, or
///                                      if `price` holds them already
///   bool annealed()                    whether it does
///   Solution solve_whole(arena, sides, p, price)
///                                      as above, from prices (nullptr: from scratch)
///
/// A budget for rounds of searches and of pricing detects a core that misleads: if thousands of pairs of a
/// row are nearly tight, searches become long and there are always more violating pairs. A perfect problem
/// that exceeds it gets annealed prices and a core chosen by them; if that is no better, the whole problem
/// is solved from those prices.
///
/// The core contains every pair of row i with c_ij - price_j <= bound_i. So all other pairs of a row are
/// proven without a scan if bound_i + 1 >= u_i + max_j (v_j - price_j).
///
/// In perfect problems any prices are a valid start, and `price` is used. They are solved as perfect
/// problems as long as the core has a perfect matching; after that, rows may stay free at a cost
/// (kLargestExit) that no optimum pays unless it has to, and pricing finds the missing pairs. Every round
/// adds a pair, so the rounds end. If the core exceeds a quarter of all pairs, the policy solves the whole
/// problem.

#include <cmath>
#include <optional>

#include <cub/device/device_scan.cuh>

#include <motes/base/timer.h>

#include "matching/assignment/sparse/sparse_augmenting_paths.cuh"

namespace motes::matching::device::core {

constexpr int kAddedPerRow = 32;
/// The bound of a row whose pairs are all in the core.
constexpr Cost kNoBound = Cost{1} << 62;

/// The core, in device memory.
struct Core {
  SparseEntries entries;  ///< columns of a row in any order
  Offset pairs = 0;
  Cost* bound = nullptr;  ///< [rows]
};

/// The result of pricing: `count` rows in any order, each once.
struct Additions {
  Offset pairs = 0;  ///< in all; 0: certified
  Index count = 0;
  const Index* row = nullptr;   ///< [count]
  const int* length = nullptr;  ///< [count] number of this row's pairs
  const Index* col = nullptr;   ///< [count * kAddedPerRow]
  const Cost* cost = nullptr;   ///< [count * kAddedPerRow]
};

/// The output of a pass of pricing, which becomes Additions; only rows with violations get a place.
struct Found {
  Index* row;
  int* length;
  Index* col;
  Cost* cost;
  int* count;
  unsigned long long* pairs;

  /// A row's place; the whole warp must call it. Returns where its pairs begin in col and cost.
  __device__ Offset take(Index i, int pairs_of_row) const {
    int slot = 0;
    if (threadIdx.x % 32 == 0) {
      slot = atomicAdd(count, 1);
      row[slot] = i;
      length[slot] = pairs_of_row;
      atomicAdd(pairs, static_cast<unsigned long long>(pairs_of_row));
    }
    return Offset{__shfl_sync(0xffffffffU, slot, 0)} * kAddedPerRow;
  }
};

/// Reusable memory for a list of pairs; grows by doubling.
class PairRoom {
 public:
  void reserve(gpu::Arena& arena, Offset pairs, Index rows) {
    if (offsets == nullptr) offsets = arena.take<Offset>(static_cast<std::size_t>(rows) + 1);
    if (pairs <= room_) return;
    room_ = std::max(pairs, 2 * room_);
    col = arena.take<Index>(static_cast<std::size_t>(room_));
    cost = arena.take<Cost>(static_cast<std::size_t>(room_));
  }
  Offset* offsets = nullptr;
  Index* col = nullptr;
  Cost* cost = nullptr;

 private:
  Offset room_ = 0;
};

/// Rows that must be matched get an expensive exit.
[[maybe_unused]] static __global__ void finite_exits_kernel(const Cost* row_exit, Index rows, Cost* out) {
  for (Index i = search::thread_index(); i < rows; i += search::thread_total()) {
    const Cost exit = row_exit == nullptr ? kInfiniteCost : row_exit[i];
    out[i] = exit == kInfiniteCost ? kLargestExit : exit;
  }
}

/// length[i + 1] = pairs of row i, length[0] = 0.
[[maybe_unused]] static __global__ void old_lengths_kernel(const Offset* offsets, Index rows,
                                                           Offset* length) {
  for (Index i = search::thread_index(); i <= rows; i += search::thread_total())
    length[i] = i == 0 ? 0 : offsets[i] - offsets[i - 1];
}
[[maybe_unused]] static __global__ void add_lengths_kernel(Additions added, Offset* length) {
  for (Index k = search::thread_index(); k < added.count; k += search::thread_total())
    length[added.row[k] + 1] += added.length[k];
}
/// One warp per row: copies the pairs that it had.
[[maybe_unused]] static __global__ void copy_pairs_kernel(SparseEntries old, const Offset* offsets,
                                                          Index* col, Cost* cost) {
  for (Index i = search::thread_index() / 32; i < old.rows; i += search::thread_total() / 32) {
    const Offset from = old.offsets[i], count = old.offsets[i + 1] - from, to = offsets[i];
    for (Offset k = static_cast<Offset>(threadIdx.x % 32); k < count; k += 32) {
      col[to + k] = old.col_index[from + k];
      cost[to + k] = old.cost[from + k];
    }
  }
}
/// One warp per row with additions: appends them.
[[maybe_unused]] static __global__ void append_pairs_kernel(Additions added, const Offset* offsets,
                                                            Index* col, Cost* cost) {
  static_assert(kAddedPerRow == 32);
  const int lane = threadIdx.x % 32;
  for (Index k = search::thread_index() / 32; k < added.count; k += search::thread_total() / 32) {
    const int length = added.length[k];
    const Offset to = offsets[added.row[k] + 1] - length + lane, from = Offset{k} * kAddedPerRow + lane;
    if (lane < length) col[to] = added.col[from], cost[to] = added.cost[from];
  }
}

/// offsets[i] = the sum of all lengths up to i, in place; [count].
inline void scan_in_place(gpu::Arena& arena, Offset* values, Index count) {
  std::size_t bytes = 0;
  MOTES_CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, values, values, count, arena.stream()));
  void* room = arena.take<char>(bytes);
  MOTES_CUDA(cub::DeviceScan::InclusiveSum(room, bytes, values, values, count, arena.stream()));
}

/// The core with each row's additions after its pairs, in `room`.
inline void merge(gpu::Arena& arena, Core& core, const Additions& added, PairRoom& room) {
  const Index rows = core.entries.rows;
  const int blocks = 8 * arena.multiprocessors();
  room.reserve(arena, core.pairs + added.pairs, rows);
  const auto mark = arena.mark();
  old_lengths_kernel<<<blocks, 256, 0, arena.stream()>>>(core.entries.offsets, rows, room.offsets);
  MOTES_CUDA_LAUNCHED();
  add_lengths_kernel<<<blocks, 256, 0, arena.stream()>>>(added, room.offsets);
  MOTES_CUDA_LAUNCHED();
  scan_in_place(arena, room.offsets, rows + 1);
  copy_pairs_kernel<<<blocks, 256, 0, arena.stream()>>>(core.entries, room.offsets, room.col, room.cost);
  MOTES_CUDA_LAUNCHED();
  append_pairs_kernel<<<blocks, 256, 0, arena.stream()>>>(added, room.offsets, room.col, room.cost);
  MOTES_CUDA_LAUNCHED();
  arena.release(mark);
  core.entries.offsets = room.offsets;
  core.entries.col_index = room.col;
  core.entries.cost = room.cost;
  core.pairs += added.pairs;
}

/// Whether given prices of a perfect problem can be its start: only if the expensive exit is far above them.
inline bool usable_prices(std::span<const Cost> v) {
  if (v.empty()) return false;
  const auto [least, most] = std::minmax_element(v.begin(), v.end());
  constexpr Cost kLimit = Cost{1} << 57;
  return *least >= -kLimit && *most <= kLimit;
}

/// The budget: rounds of searches (of matrices with uniform costs about ten times the root of the size),
/// scans of rows in them for each row, rounds of pricing, and bids of a chain that fights (others need few).
inline long long most_rounds(Index rows) { return 400 + static_cast<long long>(40 * std::sqrt(rows)); }
constexpr long long kMostScans = 2000;
constexpr int kMostPricings = 12, kMostBids = 4096;

/// The budget of a search that may stop.
inline SearchSettings limited_search(Index rows) {
  SearchSettings search;
  search.most_rounds = most_rounds(rows);
  search.most_scanned = kMostScans * Offset{rows};
  search.fight_budget = kMostBids;
  return search;
}

/// A state with all rows free and these prices.
template <class Entries>
void free_all_rows(gpu::Arena& arena, const DeviceCanonical<Entries>& p, const search::State& s,
                   const Cost* price) {
  const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
  MOTES_CUDA(cudaMemsetAsync(s.row_to_col, 0xff, rows * sizeof(Index), arena.stream()));
  MOTES_CUDA(cudaMemsetAsync(s.col_to_row, 0xff, cols * sizeof(Index), arena.stream()));
  MOTES_CUDA(cudaMemcpyAsync(s.v, price, cols * sizeof(Cost), cudaMemcpyDeviceToDevice, arena.stream()));
}

/// The loop's answer: in device memory, or on the host if the whole problem was solved from scratch.
struct Outcome {
  search::State state{};
  Stats stats;
  std::optional<detail::Solution> whole;
};

/// Solves the core exactly, and adds the figures of this round, counted from 0, to `stats`. `slow` in: does
/// not solve; out: the budget of a search that `may_stop` ran out.
inline void solve_core(gpu::Arena& arena, DeviceCanonical<SparseEntries>& sparse, const search::State& s,
                       int round, bool may_stop, SearchSettings& search, bool& slow, Stats& stats) {
  const auto clock = std::chrono::steady_clock::now();
  Stats part;
  const auto mark = arena.mark();
  while (!slow && !sparse_augmenting_paths(arena, sparse, s, part, search, &slow)) {
    if (!sparse.perfect) throw std::logic_error("jv: a problem whose rows may all leave was not solved");
    sparse.perfect = false;
  }
  arena.release(mark);
  if (round == 0) {
    stats.initial_assignments = part.initial_assignments;
    stats.assignments = std::move(part.assignments);
  }
  stats.phases = round + 1;
  stats.rounds += part.rounds;
  stats.augmentations += part.augmentations;
  for (const auto& [stage, seconds] : part.seconds) stats.seconds[stage] += seconds;
  stats.seconds["solve"] += seconds_since(clock);
  if (may_stop) search.most_rounds = std::max(1LL, search.most_rounds - static_cast<long long>(part.rounds));
}

/// Solves over all pairs, from these prices (annealed; null: from scratch). Its seconds include the core's.
template <class Entries, class Policy>
detail::Solution solve_all_pairs(gpu::Arena& arena, const CanonicalSides& sides,
                                 const DeviceCanonical<Entries>& p, const Cost* price, Policy& policy,
                                 const Stats& core) {
  detail::Solution whole;
  if constexpr (requires(Cost * prices) { policy.anneal(arena, p, prices); })
    whole = policy.solve_whole(arena, sides, p, price);
  else
    whole = policy.solve_whole(arena, sides, p);
  for (const auto& [stage, seconds] : core.seconds) whole.stats.seconds[stage] += seconds;
  return whole;
}

/// Solves by the loop above. Stats: those of the sparse solves, summed, but phases = rounds of solving and
/// pricing; seconds gain selection, solve, pricing.
template <class Entries, class Policy>
Outcome solve_in_place(gpu::Arena& arena, const CanonicalSides& sides, const DeviceCanonical<Entries>& p,
                       const Start& given, Policy& policy) {
  namespace h = search;
  Outcome out;
  if (p.rows == 0 || p.cols == 0) {
    out.state = h::initial_state(arena, sides, p, {});
    return out;
  }
  const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
  const int blocks = 8 * arena.multiprocessors();
  Stats& stats = out.stats;

  auto clock = std::chrono::steady_clock::now();
  Start use = given;
  std::span<const Cost>& v_given = sides.exchanged ? use.u : use.v;
  if (p.perfect && !usable_prices(v_given)) v_given = {};
  const h::State s = h::initial_state(arena, sides, p, use);
  out.state = s;
  Cost* price = arena.take<Cost>(cols);
  MOTES_CUDA(cudaMemcpyAsync(price, s.v, cols * sizeof(Cost), cudaMemcpyDeviceToDevice, arena.stream()));
  Core core = policy.select(arena, p, s, price, v_given.empty());
  if (p.perfect)
    MOTES_CUDA(cudaMemcpyAsync(s.v, price, cols * sizeof(Cost), cudaMemcpyDeviceToDevice, arena.stream()));
  Cost* exits = arena.take<Cost>(rows);
  finite_exits_kernel<<<blocks, h::kThreads, 0, arena.stream()>>>(p.row_exit, p.rows, exits);
  MOTES_CUDA_LAUNCHED();
  DeviceCanonical<SparseEntries> sparse{p.rows,   p.cols, core.entries, exits, p.perfect ? price : p.start,
                                        p.perfect};
  stats.seconds["selection"] = seconds_since(clock);

  PairRoom rooms[2];
  constexpr bool kAnneals = requires(Cost * prices) { policy.anneal(arena, p, prices); };
  bool may_stop = false;
  if constexpr (kAnneals) may_stop = p.perfect && policy.can_anneal(p);
  int first_round = 0;
  bool late = false;
  SearchSettings search;
  if (may_stop) search = limited_search(p.rows);
  for (int round = 0;; ++round) {
    sparse.entries = core.entries;
    bool slow = may_stop && round - first_round >= kMostPricings;
    solve_core(arena, sparse, s, round, may_stop, search, slow, stats);

    clock = std::chrono::steady_clock::now();
    const Additions added = slow ? Additions{} : policy.price(arena, p, s, price, core);
    const bool large = added.pairs > 0 && 4 * (core.pairs + added.pairs) > Offset{p.rows} * p.cols;
    if (!slow && added.pairs > 0 && !large) merge(arena, core, added, rooms[round % 2]);
    stats.seconds["pricing"] += seconds_since(clock);
    if (!slow && added.pairs == 0) break;
    if (!slow && !large) continue;

    if constexpr (kAnneals) {
      clock = std::chrono::steady_clock::now();
      if (may_stop && policy.anneal(arena, p, price)) {
        core = policy.select(arena, p, s, price, false);
        free_all_rows(arena, p, s, price);
        sparse = {p.rows, p.cols, core.entries, exits, price, true};
        search.most_rounds = most_rounds(p.rows);
        first_round = round + 1;
        late = true;
        rooms[0] = rooms[1] = {};
        stats.seconds["annealing"] += seconds_since(clock);
        continue;
      }
    }
    // Duals that an expensive exit has pushed down are a bad start for the whole matrix. Annealed prices are
    // a good one if the rows' cheapest pairs left columns out; else trees are faster from scratch.
    const Cost* start = nullptr;
    if constexpr (kAnneals)
      if (policy.annealed() && !late) start = price;
    out.whole = solve_all_pairs(arena, sides, p, start, policy, stats);
    return out;
  }
  // Rows that left at the expensive exit have none: the finishing step finds them and reports infeasibility.
  return out;
}

/// The same, with the answer on the host.
template <class Entries, class Policy>
detail::Solution solve(gpu::Arena& arena, const CanonicalSides& sides, const DeviceCanonical<Entries>& p,
                       const Start& given, Policy& policy) {
  Outcome found = solve_in_place(arena, sides, p, given, policy);
  if (found.whole) return std::move(*found.whole);
  return {arena.download(found.state.row_to_col, static_cast<std::size_t>(p.rows)),
          arena.download(found.state.v, static_cast<std::size_t>(p.cols)), false, std::move(found.stats)};
}

}  // namespace motes::matching::device::core
