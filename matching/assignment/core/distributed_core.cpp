/// Rank 0 runs the loop of core_solver.cpp; the other ranks answer its requests for their rows.

#include "matching/assignment/core/distributed_core.h"

#include <cstddef>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/timer.h>

#include "matching/assignment/core/column_prices.h"
#include "matching/assignment/dense/dense_augmenting_paths.h"
#include "matching/assignment/dense/row_keys.h"

namespace motes::matching::detail {
namespace {

/// Requests of rank 0 to the other ranks.
enum class Order : std::int64_t { begin, price, ways_out, anneal, solve_whole, finish };

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Appends what all ranks have to rank 0's `all`, in rank order.
template <class T>
void collect(Communicator& ranks, const std::vector<T>& mine, std::vector<T>& all) {
  ranks.collect(bytes_of(mine), [&](int, std::string_view bytes) {
    const std::size_t before = all.size();
    all.resize(before + bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(all.data() + before, bytes.data(), bytes.size());
  });
}

/// Sends rank 0's values to every rank.
template <class T>
std::vector<T> shared(Communicator& ranks, std::vector<T> values) {
  auto count = static_cast<std::int64_t>(values.size());
  ranks.broadcast(std::span(&count, 1));
  values.resize(at(count));
  ranks.broadcast(std::span(values));
  return values;
}

/// The rows `mine`; of a matrix this rank has no others.
template <class T>
DenseEntries<T> rows_here(const DenseEntries<T>& entries, const Block&) {
  return entries;
}
GeometricEntries rows_here(const GeometricEntries& entries, const Block& mine) {
  return block_of_rows(entries, mine.first, mine.count);
}

/// The pairs of all ranks, as rank 0 sees them; and a rank's part in answering.
template <class Entries>
class DistributedPairs final : public OutsidePairs {
 public:
  static constexpr bool kPoints = std::is_same_v<Entries, GeometricEntries>;

  DistributedPairs(Communicator& ranks, const Execution& execution, const Entries& given, const Block& mine,
                   const CanonicalSides& oriented, const DistributedCoreCalls& calls,
                   const DistributedCoreSettings& settings)
      : ranks_(ranks),
        execution_(execution),
        given_(given),
        entries_(rows_here(given, mine)),
        rows_{&ranks, mine.first, oriented.rows},
        calls_(calls),
        settings_(settings),
        size_(settings.size.of_rows > 0 ? settings.size : core_size<Entries>(oriented)),
        finder_(thread_count(execution), entries_, mine.first) {}

  /// Collective. The statistics of all entries; the core stays distributed.
  const CoreSelection& select() {
    if constexpr (kPoints)
      mine_ = select_point_core(execution_, given_, size_.of_rows, size_.of_columns,
                                {rows_.first, entries_.rows}, &ranks_);
    else
      mine_ = select_core(execution_, entries_, size_.of_rows, size_.of_columns, rows_);
    return mine_;
  }
  void set_sides(const CanonicalSides& sides) { sides_ = &sides; }

  /// Collective: rank 0 gets the whole core.
  CoreSelection gather_core() {
    std::vector<Index> length;
    for (Index i = 0; i < entries_.rows; ++i)
      length.push_back(
          static_cast<Index>(mine_.core.graph.row_offsets[at(i) + 1] - mine_.core.graph.row_offsets[at(i)]));
    CoreSelection all;
    std::vector<Index> all_lengths;
    collect(ranks_, length, all_lengths);
    collect(ranks_, mine_.core.graph.col_index, all.core.graph.col_index);
    collect(ranks_, mine_.core.cost, all.core.cost);
    all.core.graph.rows = sides_->rows;
    all.core.graph.cols = sides_->cols;
    for (const Index n : all_lengths)
      all.core.graph.row_offsets.push_back(all.core.graph.row_offsets.back() + n);
    all.level = mine_.level;
    all.annealed = mine_.annealed;
    all.complete = mine_.complete;
    mine_.core = {};
    return all;
  }

  // Requests of rank 0, which answers for its own rows like the others.
  void begin(bool v_falls) override {
    give(Order::begin);
    begin_on_all(v_falls);
  }
  bool price(const CoreSelection&, const std::vector<Cost>& u, const std::vector<Cost>& v,
             PairsOfRows& found) override {
    give(Order::price);
    return price_on_all(u, v, found);
  }
  bool ways_out(const std::vector<Index>& trapped, const std::vector<char>& reached,
                const std::vector<Cost>& v, std::size_t count, PairsOfRows& found) override {
    give(Order::ways_out);
    return ways_out_on_all(trapped, reached, v, count, found);
  }
  bool of_matrix() const override { return !kPoints; }
  void anneal(CoreSelection& selection) override {
    give(Order::anneal);
    selection = anneal_on_all();
  }
  Solution solve_whole(const std::vector<Cost>& v) override {
    give(Order::solve_whole);
    return solve_whole_on_all(v);
  }
  void finish() { give(Order::finish); }

  /// On the other ranks: answers requests until rank 0 has finished.
  void serve() {
    PairsOfRows none;
    while (true) {
      std::int64_t order = 0;
      ranks_.broadcast(std::span(&order, 1));
      switch (static_cast<Order>(order)) {
        case Order::begin:
          begin_on_all(false);
          break;
        case Order::price:
          price_on_all({}, {}, none);
          break;
        case Order::ways_out:
          ways_out_on_all({}, {}, {}, 0, none);
          break;
        case Order::anneal:
          anneal_on_all();
          break;
        case Order::solve_whole:
          solve_whole_on_all({});
          break;
        case Order::finish:
          return;
      }
    }
  }

  /// Whether an error has ended the work on every rank.
  bool ended() const { return ended_; }

  Solution solve_whole_on_all([[maybe_unused]] const std::vector<Cost>& prices) {
    if constexpr (kPoints)
      return ranks_.rank() > 0 ? Solution{}
                               : solve_by_dense_paths(Canonical<Entries>{*sides_, given_}, {{}, {}, prices});
    else
      return solve_gathered(prices);
  }

 private:
  struct Found {
    Index row, col;
    Cost cost;
  };

  /// On rank 0, which gathers the rows, or by the caller's function.
  Solution solve_gathered(const std::vector<Cost>& prices) {
    using T = std::decay_t<decltype(*entries_.data)>;
    if (Offset{sides_->rows} * sides_->cols > settings_.most_gathered) return calls_.without_core(*sides_);
    std::vector<T> mine, all, buffer;
    agree([&] {
      mine.reserve(at(entries_.rows) * at(entries_.cols));
      for (Index i = 0; i < entries_.rows; ++i) {
        const T* row = row_keys(entries_, i, buffer);
        mine.insert(mine.end(), row, row + entries_.cols);
      }
    });
    collect(ranks_, mine, all);
    if (ranks_.rank() > 0) return {};
    Canonical<Entries> whole{*sides_,
                             {sides_->rows, sides_->cols, all.data(), sides_->cols, 1, entries_.scale}};
    return solve_by_dense_paths(whole, {{}, {}, prices});
  }

  void give(Order order) {
    auto number = static_cast<std::int64_t>(order);
    ranks_.broadcast(std::span(&number, 1));
  }
  void agree(const std::function<void()>& body) {
    ended_ = true;
    ranks_.agreed(body);
    ended_ = false;
  }

  void begin_on_all(bool v_falls) {
    v_falls = shared(ranks_, std::vector<char>{v_falls})[0] != 0;
    agree([&] { finder_.begin(v_falls); });
  }

  bool price_on_all(const std::vector<Cost>& given_u, const std::vector<Cost>& given_v, PairsOfRows& found) {
    const std::vector<Cost> u = shared(ranks_, given_u), v = shared(ranks_, given_v);
    PairsOfRows mine;
    agree([&] { finder_.price(mine_, std::span(u).subspan(at(rows_.first), at(entries_.rows)), v, mine); });
    return gather(mine, found);
  }

  bool ways_out_on_all(const std::vector<Index>& given_trapped, const std::vector<char>& given_reached,
                       const std::vector<Cost>& given_v, std::size_t given_count, PairsOfRows& found) {
    const std::vector<Index> trapped = shared(ranks_, given_trapped);
    const std::vector<char> reached = shared(ranks_, given_reached);
    const std::vector<Cost> v = shared(ranks_, given_v);
    const auto count = shared(ranks_, std::vector<std::uint64_t>{given_count})[0];
    PairsOfRows mine;
    agree([&] {
      std::vector<Index> here;
      for (const Index i : trapped)
        if (i >= rows_.first && i - rows_.first < entries_.rows) here.push_back(i - rows_.first);
      finder_.ways_out(here, reached, v, count, mine);
    });
    return gather(mine, found);
  }

  CoreSelection anneal_on_all() {
    if constexpr (!kPoints)  // points are not a matrix, and are not annealed
      select_by_annealing(execution_, entries_, size_.of_rows, size_.of_columns, rows_, mine_);
    return gather_core();
  }

  /// Rank 0 gets the pairs that all ranks found. True there if there are any.
  bool gather(const PairsOfRows& mine, PairsOfRows& found) {
    std::vector<Found> list, all;
    for (std::size_t i = 0; i < mine.size(); ++i)
      for (const CorePair& pair : mine[i])
        list.push_back({rows_.first + static_cast<Index>(i), pair.col, pair.cost});
    collect(ranks_, list, all);
    if (ranks_.rank() > 0) return false;
    found.assign(at(rows_.all), {});
    for (const Found& one : all) found[at(one.row)].push_back({one.col, one.cost});
    return !all.empty();
  }

  Communicator& ranks_;
  const Execution& execution_;
  Entries given_;    ///< of points: all of them
  Entries entries_;  ///< the rows here
  DistributedRows rows_;
  const DistributedCoreCalls& calls_;
  const DistributedCoreSettings& settings_;
  CoreSize size_;
  PairFinder<Entries> finder_;
  const CanonicalSides* sides_ = nullptr;
  CoreSelection mine_;  ///< of these rows; its core until it is gathered
  bool ended_ = false;
};

}  // namespace

void share_solution(Communicator& ranks, Solution& solution) {
  solution.row_to_col = shared(ranks, std::move(solution.row_to_col));
  solution.v = shared(ranks, std::move(solution.v));
  Stats& stats = solution.stats;
  const auto numbers =
      shared(ranks, std::vector<std::int64_t>{solution.infeasible, stats.phases, stats.rounds,
                                              stats.augmentations, stats.initial_assignments});
  solution.infeasible = numbers[0] != 0;
  stats.phases = numbers[1];
  stats.rounds = numbers[2];
  stats.augmentations = numbers[3];
  stats.initial_assignments = numbers[4];
  stats.assignments = shared(ranks, std::move(stats.assignments));
}

template <class Entries>
Solution solve_distributed_core(Communicator& ranks, const Execution& execution,
                                const CanonicalSides& oriented, const Entries& entries, const Block& mine,
                                const DistributedCoreCalls& calls, const DistributedCoreSettings& settings) {
  DistributedPairs<Entries> pairs(ranks, execution, entries, mine, oriented, calls, settings);
  const Offset pairs_in_all = Offset{oriented.rows} * oriented.cols;
  const bool whole =
      pairs_in_all == 0 || (oriented.cols < settings.least_cols && pairs_in_all <= settings.most_gathered);
  const auto begun = std::chrono::steady_clock::now();
  const CanonicalSides sides = calls.make_sides(whole ? nullptr : &pairs.select());
  pairs.set_sides(sides);
  Solution solution;
  if (whole) {
    solution = pairs.solve_whole_on_all({});
  } else {
    CoreSelection core = pairs.gather_core();
    const double selection_s = seconds_since(begun);
    std::exception_ptr failure;
    if (ranks.rank() > 0) {
      pairs.serve();
    } else {
      try {
        solution = solve_on_core(execution, sides, {}, std::move(core), pairs);
      } catch (...) {
        if (pairs.ended()) throw;
        failure = std::current_exception();
      }
      pairs.finish();
    }
    ranks.agreed([&] {
      if (failure != nullptr) std::rethrow_exception(failure);
    });
    solution.stats.seconds["selection"] = selection_s;
  }
  share_solution(ranks, solution);
  return solution;
}

#define MOTES_INSTANTIATE(Entries)                                                                    \
  template Solution solve_distributed_core(Communicator&, const Execution&, const CanonicalSides&,    \
                                           const Entries&, const Block&, const DistributedCoreCalls&, \
                                           const DistributedCoreSettings&);
MOTES_INSTANTIATE(DenseEntries<std::int32_t>)
MOTES_INSTANTIATE(DenseEntries<std::int64_t>)
MOTES_INSTANTIATE(DenseEntries<float>)
MOTES_INSTANTIATE(DenseEntries<double>)
MOTES_INSTANTIATE(GeometricEntries)
#undef MOTES_INSTANTIATE

}  // namespace motes::matching::detail
