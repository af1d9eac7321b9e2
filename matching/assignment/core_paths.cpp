/// A core-oriented solve (the idea of Volgenant 1996, "Linear and semi-assignment problems: a core oriented
/// approach"), exact by pricing.
///
/// Selection: of row i all pairs with c_ij <= bound_i go into the core; bound_i is guessed from a sample of
/// the row so that about `wanted` pairs do. Solve: sparse shortest augmenting paths on the core, where rows
/// that must be matched get an exit so dear that no optimum takes it unless it has to. Pricing: the duals
/// prove the whole matrix optimal if c_ij >= u_i + v_j everywhere. Pairs of the core satisfy it; all others
/// of row i cost more than bound_i, so that the row is proven without a look at it where bound_i + 1 >= u_i +
/// max_j v_j. The other rows are scanned, and the pairs that violate join the core, at most kAddedPerRow a
/// row and round, the worst first. Then the solve goes on from its own matching and duals. No violation left:
/// optimal. Every round adds a pair, so the rounds end; a dear exit still taken then means infeasible.

#include "matching/assignment/core_paths.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "matching/assignment/dense_paths.h"
#include "matching/assignment/row_buffer.h"
#include "matching/assignment/sparse_paths.h"
#include "matching/detail/row_keys.h"
#include "matching/parallel_for.h"

namespace motes::matching::detail {
namespace {

constexpr Offset kMostFactor = 4;  ///< times `wanted`: more pairs, through ties or a bad sample, are cut
constexpr std::size_t kAddedPerRow = 32;
constexpr Index kRowsPerTask = 64;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

struct CorePair {
  Index col;
  Cost cost;
};

bool by_column(const CorePair& a, const CorePair& b) { return a.col < b.col; }

/// Pairs of a row by rising column, and the bound: every pair that costs no more is among them.
struct RowCore {
  std::vector<CorePair> pairs;
  Cost bound = 0;
};

/// Picks a row's first pairs by their keys (row_keys.h); one of these a thread, for its scratch.
template <class Entries>
class RowSelector {
 public:
  RowSelector(const Entries& entries, Offset wanted) : entries_(entries), wanted_(wanted) {}

  /// Pairs by rising column. Tries the limit that suited the row before, then one from a sample of the row,
  /// then the exact one.
  void select(Index row, RowCore& out) {
    const Key<Entries>* key = row_keys(entries_, row, buffer_);
    if (has_last_) {
      take_up_to(row, key, last_, out);
      if (suits(out)) return;
    }
    last_ = sampled_limit(key);
    has_last_ = true;
    take_up_to(row, key, last_, out);
    if (suits(out)) return;
    has_last_ = false;
    take_up_to(row, key, exact_limit(key), out);
    if (static_cast<Offset>(out.pairs.size()) <= kMostFactor * wanted_) return;
    cut_ties(row, out);
    std::sort(out.pairs.begin(), out.pairs.end(), by_column);
  }

 private:
  bool suits(const RowCore& out) const {
    const auto count = static_cast<Offset>(out.pairs.size());
    return count <= kMostFactor * wanted_ && (count >= wanted_ / 2 || out.bound == kForbiddenCost);
  }

  /// From evenly spaced places of the row, about eight of them below the limit.
  Key<Entries> sampled_limit(const Key<Entries>* key) {
    const Offset cols = entries_.cols, size = std::min(cols, std::max<Offset>(256, 8 * cols / wanted_));
    sample_.clear();
    for (Offset k = 0; k < size; ++k) sample_.push_back(key[k * cols / size]);
    const Offset rank = std::min(size - 1, size * wanted_ / cols);
    std::nth_element(sample_.begin(), sample_.begin() + rank, sample_.end());
    return sample_[static_cast<std::size_t>(rank)];
  }

  /// The limit that `wanted` pairs meet exactly, ties apart.
  Key<Entries> exact_limit(const Key<Entries>* key) {
    sample_.assign(key, key + entries_.cols);
    const Offset rank = std::min<Offset>(wanted_, entries_.cols) - 1;
    std::nth_element(sample_.begin(), sample_.begin() + rank, sample_.end());
    return sample_[static_cast<std::size_t>(rank)];
  }

  /// All pairs with keys up to the limit. The bound: keys of equal cost may lie on both sides of the limit,
  /// so that only pairs cheaper than the one at the limit are surely all among them.
  void take_up_to(Index row, const Key<Entries>* key, Key<Entries> limit, RowCore& out) {
    limit = std::min(limit, kLastKey<Key<Entries>>);
    out.pairs.clear();
    Cost highest = -kForbiddenCost;
    bool complete = limit == kLastKey<Key<Entries>>;
    for_each_up_to(key, entries_.cols, limit, [&](Index j) {
      const Cost c = entries_.at(row, j);
      if (c == kInfiniteCost) {  // the gate lies below the limit: all pairs within it were met
        complete = true;
        return;
      }
      out.pairs.push_back({j, c});
      highest = std::max(highest, c);
    });
    out.bound = complete ? kForbiddenCost : highest - 1;
  }

  /// Where ties at the limit are more than the core can take: all that is cheaper, and those that come first
  /// from a place of the row's own, so that rows do not all compete for the same columns.
  void cut_ties(Index row, RowCore& out) {
    const auto dearest =
        std::max_element(out.pairs.begin(), out.pairs.end(), [](const CorePair& a, const CorePair& b) {
          return a.cost < b.cost;
        })->cost;
    const auto ties = std::partition(out.pairs.begin(), out.pairs.end(),
                                     [&](const CorePair& p) { return p.cost < dearest; });
    const auto below = static_cast<std::size_t>(ties - out.pairs.begin());
    const auto place = static_cast<Index>((static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15U >> 32) %
                                          static_cast<std::uint64_t>(entries_.cols));
    std::sort(ties, out.pairs.end(), [&](const CorePair& a, const CorePair& b) {
      return (a.col < place) != (b.col < place) ? b.col < place : a.col < b.col;
    });
    out.pairs.resize(std::max(below, static_cast<std::size_t>(wanted_)));
    out.bound = dearest - 1;
  }

  const Entries& entries_;
  Offset wanted_;
  std::vector<Key<Entries>> buffer_, sample_;
  Key<Entries> last_{};
  bool has_last_ = false;
};

template <class Entries>
class CorePaths {
 public:
  CorePaths(const Execution& execution, const Canonical<Entries>& problem, Offset wanted)
      : execution_(execution),
        wanted_(wanted),
        threads_(thread_count(execution)),
        problem_(problem),
        bound_(at(problem.rows)) {
    core_.graph.rows = problem.rows;
    core_.graph.cols = problem.cols;
    set_exits();
  }

  Solution solve(const Start& start) {
    select();
    Solution solution;
    if (problem_.exchanged) {
      std::vector<Index> pairs(start.row_to_col.empty() ? 0 : at(problem_.rows), -1);
      for (std::size_t k = 0; k < start.row_to_col.size(); ++k)
        if (start.row_to_col[k] != -1) pairs[at(start.row_to_col[k])] = static_cast<Index>(k);
      solve_core(solution, {pairs, {}, start.u});
    } else {
      solve_core(solution, {start.row_to_col, {}, start.v});
    }
    while (price(solution.v)) {
      merge();
      if (4 * core_.graph.edges() > Offset{problem_.rows} * problem_.cols) return solve_whole();
      const Solution before = std::move(solution);
      solve_core(solution, {before.row_to_col, {}, before.v});
    }
    for (Index i = 0; i < problem_.rows; ++i)
      if (solution.row_to_col[at(i)] == -1 && problem_.exit_of(i) == kInfiniteCost)
        solution.infeasible = true;
    solution.stats = std::move(stats_);
    return solution;
  }

 private:
  /// Calls body(begin, end) for ranges of rows, side by side.
  template <class Body>
  void for_row_ranges(const Body& body) {
    const Index tasks = (problem_.rows + kRowsPerTask - 1) / kRowsPerTask;
    parallel_for(threads_, tasks, [&](std::int64_t task) {
      const Index begin = static_cast<Index>(task) * kRowsPerTask;
      body(begin, std::min<Index>(problem_.rows, begin + kRowsPerTask));
    });
  }

  /// A row that must be matched may leave at a price above what any optimum pays.
  void set_exits() {
    exits_.resize(at(problem_.rows));
    Cost largest = 0;
    const auto see = [&](Cost c) { largest = std::max(largest, c < 0 ? -c : c); };
    bool must = false;
    for (Index i = 0; i < problem_.rows; ++i) {
      exits_[at(i)] = problem_.exit_of(i);
      must = must || exits_[at(i)] == kInfiniteCost;
      if (exits_[at(i)] != kInfiniteCost) see(exits_[at(i)]);
    }
    for (const Cost v : problem_.start) see(v);
    if (!must) return;
    // make_sides has shown that vertices * (2 * largest + 1) stays below 2^60 where vertices must be matched.
    const Cost dear = Cost{1} << 60;
    std::replace(exits_.begin(), exits_.end(), kInfiniteCost, dear);
  }

  void select() {
    const auto start = std::chrono::steady_clock::now();
    std::vector<RowCore> selected(at(problem_.rows));
    for_row_ranges([&](Index begin, Index end) {
      RowSelector<Entries> selector(problem_.entries, wanted_);
      for (Index i = begin; i < end; ++i) selector.select(i, selected[at(i)]);
    });
    for (Index i = 0; i < problem_.rows; ++i) {
      bound_[at(i)] = selected[at(i)].bound;
      append_row(selected[at(i)].pairs);
    }
    stats_.seconds["selection"] = seconds_since(start);
  }

  void append_row(const std::vector<CorePair>& pairs) {
    for (const CorePair& pair : pairs) {
      core_.graph.col_index.push_back(pair.col);
      core_.cost.push_back(pair.cost);
    }
    core_.graph.row_offsets.push_back(core_.graph.edges());
  }

  SparseEntries core_entries() const {
    return {problem_.rows, problem_.cols, core_.graph.row_offsets.data(), core_.graph.col_index.data(),
            core_.cost.data()};
  }

  void solve_core(Solution& solution, const Start& from) {
    const auto start = std::chrono::steady_clock::now();
    const Canonical<SparseEntries> core{
        CanonicalSides{problem_.rows, problem_.cols, exits_, problem_.start, false, false}, core_entries()};
    solution = solve_by_sparse_paths(execution_, core, from);
    stats_.seconds["solve"] += seconds_since(start);
    if (stats_.phases++ == 0) stats_.initial_assignments = solution.stats.initial_assignments;
    stats_.rounds += solution.stats.rounds;
    stats_.augmentations += solution.stats.augmentations;
  }

  /// The least offer of the row's core pairs and its exit.
  Cost dual_of(Index i, const std::vector<Cost>& v) const {
    Cost u = exits_[at(i)];
    core_entries().for_each(i, 0, 1, [&](Index j, Cost c) { u = std::min(u, c - v[at(j)]); });
    return u;
  }

  /// Finds pairs that violate, in the rows that their bounds do not prove; false if there are none.
  bool price(const std::vector<Cost>& v) {
    const auto start = std::chrono::steady_clock::now();
    violating_.assign(at(problem_.rows), {});
    const Cost highest = v.empty() ? 0 : *std::max_element(v.begin(), v.end());
    for_row_ranges([&](Index begin, Index end) {
      std::vector<Cost> cost(at(problem_.cols));
      for (Index i = begin; i < end; ++i) {
        const Cost u = dual_of(i, v);
        if (bound_[at(i)] + 1 >= u + highest) continue;
        fill_row(problem_.entries, i, cost.data());
        find_violating(cost, u, v, violating_[at(i)]);
      }
    });
    stats_.seconds["pricing"] += seconds_since(start);
    return std::any_of(violating_.begin(), violating_.end(),
                       [](const auto& pairs) { return !pairs.empty(); });
  }

  static void find_violating(const std::vector<Cost>& cost, Cost u, const std::vector<Cost>& v,
                             std::vector<CorePair>& found) {
    for (std::size_t j = 0; j < cost.size(); ++j)
      if (cost[j] < u + v[j]) found.push_back({static_cast<Index>(j), cost[j]});
    if (found.size() > kAddedPerRow) {
      const auto better = [&](const CorePair& a, const CorePair& b) {
        const Cost x = a.cost - v[at(a.col)], y = b.cost - v[at(b.col)];
        return x != y ? x < y : a.col < b.col;
      };
      std::nth_element(found.begin(), found.begin() + kAddedPerRow, found.end(), better);
      found.resize(kAddedPerRow);
    }
    std::sort(found.begin(), found.end(), by_column);
  }

  void merge() {
    const auto start = std::chrono::steady_clock::now();
    const SparseCosts old = std::exchange(core_, {});
    core_.graph.rows = problem_.rows;
    core_.graph.cols = problem_.cols;
    std::vector<CorePair> row;
    for (Index i = 0; i < problem_.rows; ++i) {
      row.clear();
      for (Offset e = old.graph.row_offsets[at(i)]; e < old.graph.row_offsets[at(i) + 1]; ++e)
        row.push_back(
            {old.graph.col_index[static_cast<std::size_t>(e)], old.cost[static_cast<std::size_t>(e)]});
      const auto middle = static_cast<std::ptrdiff_t>(row.size());
      row.insert(row.end(), violating_[at(i)].begin(), violating_[at(i)].end());
      std::inplace_merge(row.begin(), row.begin() + middle, row.end(), by_column);
      append_row(row);
    }
    stats_.seconds["pricing"] += seconds_since(start);
  }

  /// From scratch: duals that a dear exit has pushed down are no start for the whole matrix.
  Solution solve_whole() {
    Solution solution = solve_by_dense_paths(problem_, {});
    for (const auto& [stage, seconds] : stats_.seconds) solution.stats.seconds[stage] += seconds;
    return solution;
  }

  const Execution& execution_;
  Offset wanted_;
  int threads_;
  const Canonical<Entries>& problem_;
  std::vector<Cost> bound_;  ///< [rows] pairs that cost no more are all in the core
  std::vector<Cost> exits_;  ///< [rows] with a dear one where there is none
  SparseCosts core_;
  std::vector<std::vector<CorePair>> violating_;  ///< [rows] of one round of pricing
  Stats stats_;
};

}  // namespace

template <class Entries>
Solution solve_by_core_paths(const Execution& execution, const Canonical<Entries>& problem,
                             const Start& start, Offset wanted) {
  if (problem.rows == 0 || problem.cols == 0) return solve_by_dense_paths(problem, start);
  return CorePaths<Entries>(execution, problem, wanted).solve(start);
}

template Solution solve_by_core_paths(const Execution&, const Canonical<DenseEntries<std::int32_t>>&,
                                      const Start&, Offset);
template Solution solve_by_core_paths(const Execution&, const Canonical<DenseEntries<std::int64_t>>&,
                                      const Start&, Offset);
template Solution solve_by_core_paths(const Execution&, const Canonical<DenseEntries<float>>&, const Start&,
                                      Offset);
template Solution solve_by_core_paths(const Execution&, const Canonical<DenseEntries<double>>&, const Start&,
                                      Offset);
template Solution solve_by_core_paths(const Execution&, const Canonical<GeometricEntries>&, const Start&,
                                      Offset);

}  // namespace motes::matching::detail
