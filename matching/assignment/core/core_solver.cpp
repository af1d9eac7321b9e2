/// A core-oriented solve (the idea of Volgenant 1996, "Linear and semi-assignment problems: a core oriented
/// approach"), made exact by pricing.
///
/// Selection (selection.h) puts all pairs of row i with c_ij <= bound_i into the core. Solve: perfect
/// problems by forests of augmenting paths (multi_source_paths.h), others by single paths
/// (sparse_augmenting_paths.h); there, rows that must be matched get an exit so expensive that no optimum
/// takes it unless it has to. Pricing: the duals prove the whole matrix optimal if c_ij >= u_i + v_j
/// everywhere. Pairs of the core satisfy this, and bounds prove it for most rows (pricing.h). The other
/// rows are scanned, and violating pairs are added to the core, at most kAddedPerRow per row and round, the
/// worst first. The solve then continues from its own matching and duals. When no pair violates, the
/// matching is optimal. Every round adds a pair, so the rounds end.
///
/// A core may mislead: if thousands of pairs of a row are nearly tight, searches become long and rounds
/// many. So solving and pricing have a budget of pairs scanned, a multiple of the matrix's size. A perfect
/// problem that exceeds it gets annealed prices and a core chosen by them, and starts over. If that is slow
/// too, or the core exceeds a quarter of the matrix, dense augmenting paths take over: from scratch if their
/// first searches are short, else from the prices. Their time is at most cubic in any case. For small
/// matrices they are tried before the prices are annealed.
///
/// The problem is infeasible if an expensive exit is still taken at the end; or, for perfect problems, if a
/// search is trapped among columns whose rows have no other pairs in the whole matrix. If these rows have
/// some, the best of them are added to the core.

#include "matching/assignment/core/core_solver.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/timer.h>

#include "matching/assignment/core/column_prices.h"
#include "matching/assignment/dense/dense_augmenting_paths.h"
#include "matching/assignment/sparse/multi_source_paths.h"
#include "matching/assignment/sparse/sparse_augmenting_paths.h"

namespace motes::matching::detail {
namespace {

/// Budget of a perfect problem: pairs that all searches together may look at, for each pair of the matrix.
/// After annealing it is rows / kRowsPerLook, since the next step, dense paths, takes cubic time. A round of
/// pricing counts as kLooksOfPricing.
constexpr double kFirstLooks = 2, kRowsPerLook = 250, kLooksOfPricing = 0.25;
/// Up to this number of rows, dense paths from scratch are tried before annealing; in larger matrices of
/// clustered costs they take longer than annealing.
constexpr Index kSmallMatrix = 4096;
constexpr std::int64_t kScansPerRow = 128;  ///< budget of that try
constexpr std::size_t kWaysOutPerRow = 4;   ///< at first; twice as many each time, up to kAddedPerRow

class CorePaths {
 public:
  CorePaths(const Execution& execution, const CanonicalSides& problem, CoreSelection&& selection,
            OutsidePairs& outside)
      : execution_(execution), problem_(problem), selection_(std::move(selection)), outside_(outside) {}

  Solution solve(const Start& start) {
    Solution solution = problem_.perfect ? solve_perfect(start) : solve_with_exits(start);
    solution.stats.phases = stats_.phases;
    for (const auto& [stage, seconds] : stats_.seconds) solution.stats.seconds[stage] += seconds;
    return solution;
  }

 private:
  const SparseCosts& core() const { return selection_.core; }

  Solution solve_perfect(const Start& start) {
    constexpr Cost kLimit = Cost{1} << 60;  // larger duals are not useful
    std::vector<Cost> v(problem_.start);
    for (std::size_t j = 0; j < start.v.size(); ++j) v[j] = std::clamp(start.v[j], -kLimit, kLimit);
    if (start.v.empty() && !selection_.level.empty()) v = selection_.level;
    Solution out;
    if (solve_perfect_core(v, start.row_to_col, out)) return out;
    if (!outside_.of_matrix()) return outside_.solve_whole({});
    const bool small = problem_.rows <= kSmallMatrix;
    if (small && try_whole(out)) return out;
    if (!selection_.annealed) {
      const auto begun = std::chrono::steady_clock::now();
      outside_.anneal(selection_);
      stats_.seconds["annealing"] += seconds_since(begun);
      out = {};
      if (solve_perfect_core(selection_.level, {}, out)) return out;
    }
    if (!small && try_whole(out)) return out;
    return outside_.solve_whole(selection_.level);
  }

  bool try_whole(Solution& out) {
    std::optional<Solution> whole = outside_.try_whole();
    if (whole) out = std::move(*whole);
    return whole.has_value();
  }

  /// False if the core has grown too large, or the budget is spent.
  bool solve_perfect_core(const std::vector<Cost>& v, std::span<const Index> row_to_col, Solution& out) {
    outside_.begin(true);
    ways_out_ = kWaysOutPerRow;
    MultiSourcePaths paths(v, row_to_col);
    const double matrix = static_cast<double>(problem_.rows) * problem_.cols;
    const double looks_a_pair = selection_.annealed ? problem_.rows / kRowsPerLook : kFirstLooks;
    const double budget = outside_.of_matrix() ? matrix * looks_a_pair : 0x1p62;
    double priced = 0;
    while (true) {
      const auto begun = std::chrono::steady_clock::now();
      paths.set_graph(core());
      if (stats_.phases++ == 0) out.stats.initial_assignments = problem_.rows - paths.free_rows();
      const double looks = std::max(0.0, budget - priced);
      const MultiSourcePaths::End end = paths.solve(static_cast<std::int64_t>(looks));
      stats_.seconds["solve"] += seconds_since(begun);
      if (end == MultiSourcePaths::End::out_of_range || end == MultiSourcePaths::End::slow) return false;
      out.v = paths.v();
      if (end == MultiSourcePaths::End::trapped) {
        out.infeasible = !find_ways_out(paths, out.v);
        if (out.infeasible) break;
      } else if (!price(out.v)) {
        break;
      }
      priced += matrix * kLooksOfPricing;
      if (!merge()) return false;
    }
    out.row_to_col.resize(at(problem_.rows));
    for (Index i = 0; i < problem_.rows; ++i) out.row_to_col[at(i)] = paths.col_of(i);
    out.stats.rounds = paths.counts().bids;
    out.stats.augmentations = paths.counts().augmentations;
    return true;
  }

  Solution solve_with_exits(const Start& start) {
    set_exits();
    outside_.begin(false);
    Solution solution;
    if (problem_.exchanged) {
      std::vector<Index> pairs(start.row_to_col.empty() ? 0 : at(problem_.rows), -1);
      for (std::size_t k = 0; k < start.row_to_col.size(); ++k)
        if (start.row_to_col[k] != -1) pairs[at(start.row_to_col[k])] = static_cast<Index>(k);
      solve_core(solution, {pairs, {}, start.u});
    } else {
      solve_core(solution, {start.row_to_col, {}, start.v});
    }
    while (!solution.infeasible && !selection_.complete && price(solution.v)) {
      if (!merge()) return outside_.solve_whole({});  // duals of too small a core are a bad start
      const Solution before = std::move(solution);
      solve_core(solution, {before.row_to_col, {}, before.v});
    }
    for (Index i = 0; i < problem_.rows; ++i)
      if (solution.row_to_col[at(i)] == -1 && problem_.exit_of(i) == kInfiniteCost)
        solution.infeasible = true;
    const Stats last = std::exchange(solution.stats, exits_stats_);
    solution.stats.components = last.components;
    solution.stats.largest_component = last.largest_component;
    return solution;
  }

  /// A row that must be matched may leave at a price above what any optimum pays, unless the core has all
  /// pairs anyway.
  void set_exits() {
    exits_.resize(at(problem_.rows));
    for (Index i = 0; i < problem_.rows; ++i) exits_[at(i)] = problem_.exit_of(i);
    // make_sides has shown that vertices * (2 * largest + 1) stays below 2^60 where vertices must be matched.
    if (!selection_.complete) std::replace(exits_.begin(), exits_.end(), kInfiniteCost, Cost{1} << 60);
  }

  SparseEntries core_entries() const {
    return {problem_.rows, problem_.cols, core().graph.row_offsets.data(), core().graph.col_index.data(),
            core().cost.data()};
  }

  void solve_core(Solution& solution, const Start& from) {
    const auto start = std::chrono::steady_clock::now();
    const Canonical<SparseEntries> sparse{
        CanonicalSides{problem_.rows, problem_.cols, exits_, problem_.start, problem_.largest, false, false},
        core_entries()};
    solution = solve_by_sparse_paths(execution_, sparse, from);
    stats_.seconds["solve"] += seconds_since(start);
    if (stats_.phases++ == 0) exits_stats_.initial_assignments = solution.stats.initial_assignments;
    exits_stats_.rounds += solution.stats.rounds;
    exits_stats_.augmentations += solution.stats.augmentations;
  }

  /// The least offer of the row's core pairs and its exit.
  Cost dual_of(Index i, const std::vector<Cost>& v) const {
    Cost u = exits_.empty() ? kInfiniteCost : exits_[at(i)];
    core_entries().for_each(i, 0, 1, [&](Index j, Cost c) { u = std::min(u, c - v[at(j)]); });
    return u;
  }

  /// Finds pairs that violate; false if there are none.
  bool price(const std::vector<Cost>& v) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<Cost> u(at(problem_.rows));
    for (Index i = 0; i < problem_.rows; ++i) u[at(i)] = dual_of(i, v);
    const bool any = outside_.price(selection_, u, v, violating_);
    stats_.seconds["pricing"] += seconds_since(start);
    return any;
  }

  /// For the rows in which the last search was trapped: their best pairs with columns that it did not reach.
  /// False if there are none in the whole matrix.
  bool find_ways_out(const MultiSourcePaths& paths, const std::vector<Cost>& v) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<Index> trapped;
    for (Index i = 0; i < problem_.rows; ++i)
      if (paths.col_of(i) == -1 || paths.reached(paths.col_of(i))) trapped.push_back(i);
    std::vector<char> reached(at(problem_.cols));
    for (Index j = 0; j < problem_.cols; ++j) reached[at(j)] = paths.reached(j) ? 1 : 0;
    const bool found = outside_.ways_out(trapped, reached, v, ways_out_, violating_);
    ways_out_ = std::min(2 * ways_out_, kAddedPerRow);
    stats_.seconds["pricing"] += seconds_since(start);
    return found;
  }

  /// False if the core is too large.
  bool merge() {
    const auto start = std::chrono::steady_clock::now();
    add_pairs(selection_.core, violating_);
    stats_.seconds["pricing"] += seconds_since(start);
    return 4 * core().graph.edges() <= Offset{problem_.rows} * problem_.cols;
  }

  const Execution& execution_;
  const CanonicalSides& problem_;
  CoreSelection selection_;
  OutsidePairs& outside_;
  std::vector<Cost> exits_;  ///< [rows], an expensive one for rows that have none; or empty
  PairsOfRows violating_;    ///< [rows] pairs that join the core next
  std::size_t ways_out_ = kWaysOutPerRow;
  Stats stats_;        ///< phases, and seconds of the stages
  Stats exits_stats_;  ///< sums over the sparse solves
};

/// All rows are here.
template <class Entries>
class PairsHere final : public OutsidePairs {
 public:
  PairsHere(const Execution& execution, const Canonical<Entries>& problem)
      : execution_(execution), problem_(problem), finder_(thread_count(execution), problem.entries, 0) {}

  void begin(bool v_falls) override { finder_.begin(v_falls); }
  bool price(const CoreSelection& selection, const std::vector<Cost>& u, const std::vector<Cost>& v,
             PairsOfRows& found) override {
    return finder_.price(selection, u, v, found);
  }
  bool ways_out(const std::vector<Index>& trapped, const std::vector<char>& reached,
                const std::vector<Cost>& v, std::size_t count, PairsOfRows& found) override {
    return finder_.ways_out(trapped, reached, v, count, found);
  }
  bool of_matrix() const override { return !std::is_same_v<Entries, GeometricEntries>; }
  void anneal([[maybe_unused]] CoreSelection& selection) override {
    if constexpr (!std::is_same_v<Entries, GeometricEntries>) {
      const CoreSize size = core_size<Entries>(problem_);
      select_by_annealing(execution_, problem_.entries, size.of_rows, size.of_columns, {}, selection);
    }
  }
  std::optional<Solution> try_whole() override {
    if (!of_matrix()) return std::nullopt;
    return try_dense_paths(problem_, kScansPerRow * problem_.rows);
  }
  Solution solve_whole(const std::vector<Cost>& v) override {
    return solve_by_dense_paths(problem_, {{}, {}, v});
  }

 private:
  const Execution& execution_;
  const Canonical<Entries>& problem_;
  PairFinder<Entries> finder_;
};

}  // namespace

template <class Entries>
CoreSize core_size(const CanonicalSides& sides) {
  if (!sides.perfect) return {64, 0};
  return {std::is_same_v<Entries, GeometricEntries> ? 24 : 32, 4};
}

Solution solve_on_core(const Execution& execution, const CanonicalSides& sides, const Start& start,
                       CoreSelection&& selection, OutsidePairs& outside) {
  return CorePaths(execution, sides, std::move(selection), outside).solve(start);
}

template <class Entries>
Solution solve_by_core_paths(const Execution& execution, const Canonical<Entries>& problem,
                             const Start& start, CoreSelection&& selection) {
  if (problem.rows == 0 || problem.cols == 0) return solve_by_dense_paths(problem, start);
  PairsHere<Entries> outside(execution, problem);
  return solve_on_core(execution, problem, start, std::move(selection), outside);
}

#define MOTES_INSTANTIATE(Entries)                                                                 \
  template CoreSize core_size<Entries>(const CanonicalSides&);                                     \
  template Solution solve_by_core_paths(const Execution&, const Canonical<Entries>&, const Start&, \
                                        CoreSelection&&);
MOTES_INSTANTIATE(DenseEntries<std::int32_t>)
MOTES_INSTANTIATE(DenseEntries<std::int64_t>)
MOTES_INSTANTIATE(DenseEntries<float>)
MOTES_INSTANTIATE(DenseEntries<double>)
MOTES_INSTANTIATE(GeometricEntries)
#undef MOTES_INSTANTIATE

}  // namespace motes::matching::detail
