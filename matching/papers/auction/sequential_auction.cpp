/// The sequential auction: free persons wait in a queue, the first one bids at once against the newest prices
/// (Gauss-Seidel), and the person it outbids goes to the end of the queue.
///
/// On full matrices and points most bids need only a short list of the person's best objects: while duals of
/// objects fall, no object outside the list can offer less than the list's bound, which was the least offer
/// outside it when the list was made. Only a bid whose second best offer passes the bound reads the whole
/// row.

#include "matching/papers/auction/sequential_auction.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <type_traits>

#include <motes/base/index.h>

namespace motes::matching::detail {
namespace {

constexpr int kListed = 24;  ///< objects on a short list

/// Duals and the matching, in auction steps; either side may be the persons.
struct Side {
  std::vector<Cost> dual;
  std::vector<Index> mate;
  std::vector<Cost> exit;  ///< of rows, or starting prices of columns; kInfiniteCost: none
};

/// One direction of the auction: persons, and the objects they bid for.
template <class Entries>
class Market {
 public:
  Market(const Entries& entries, const AuctionScale& scale, Side& persons, Side& objects)
      : entries_(entries), scale_(scale), persons_(persons), objects_(objects) {}

  Offers offers_of(Index i) {
    if constexpr (std::is_same_v<Entries, SparseEntries>) {
      Offers offers;
      entries_.for_each(i, 0, 1, [&](Index j, Cost c) {
        const Cost cost = c * scale_.steps;
        offers.add(j, cost, cost - objects_.dual[at(j)]);
      });
      return offers;
    } else {
      if (lists_.empty()) lists_.resize(at(entries_.rows));
      const List& list = lists_[at(i)];
      if (list.made == epoch_) {
        Offers offers;
        for (int k = 0; k < list.count; ++k)
          offers.add(list.object[k], list.cost[k], list.cost[k] - objects_.dual[at(list.object[k])]);
        if (std::min(offers.second, persons_.exit[at(i)]) <= list.bound) return offers;
      }
      return make_list(i);
    }
  }

  /// Duals of objects may have risen, so no list is valid any more.
  void forget_lists() { ++epoch_; }

  void enqueue(Index person) { queue_.push_back(person); }
  bool idle() const { return queue_.empty(); }

  enum class End { placed, infeasible, unfinished };
  /// Bids until the queue is empty.
  End run(Cost epsilon, Cost ceiling, std::int64_t& budget) {
    while (!queue_.empty()) {
      if (budget-- <= 0) return End::unfinished;
      const Index i = queue_.front();
      queue_.pop_front();
      const Offers offers = offers_of(i);
      const Bid bid = bid_of(offers, persons_.exit[at(i)], epsilon, scale_.widest);
      if (bid.move == Move::stuck || (bid.move == Move::bid && offers.best > ceiling)) return End::infeasible;
      if (bid.move == Move::bid && bid.dual < kLowestDual) return End::unfinished;
      persons_.dual[at(i)] = bid.value;
      if (bid.move == Move::leave) continue;
      Index& owner = objects_.mate[at(bid.object)];
      if (owner != -1) {
        persons_.mate[at(owner)] = -1;
        queue_.push_back(owner);
      }
      owner = i;
      persons_.mate[at(i)] = bid.object;
      objects_.dual[at(bid.object)] = bid.dual;
    }
    return End::placed;
  }

 private:
  struct List {
    std::int64_t made = -1;
    int count = 0;
    Cost bound = kNoOffer;
    Index object[kListed];
    Cost cost[kListed];
  };

  Offers make_list(Index i) {
    List& list = lists_[at(i)];
    Cost offer[kListed];  // rising
    int count = 0;
    Cost bound = kNoOffer;
    Offers offers;
    entries_.for_each(i, 0, 1, [&](Index j, Cost c) {
      const Cost cost = c * scale_.steps, mine = cost - objects_.dual[at(j)];
      if (mine >= bound) return;
      offers.add(j, cost, mine);
      int k = count;
      if (count < kListed) {
        ++count;
      } else {
        bound = std::max(mine, offer[kListed - 1]);
        if (bound == mine) return;
        k = kListed - 1;
      }
      for (; k > 0 && offer[k - 1] > mine; --k) {
        offer[k] = offer[k - 1];
        list.object[k] = list.object[k - 1];
        list.cost[k] = list.cost[k - 1];
      }
      offer[k] = mine;
      list.object[k] = j;
      list.cost[k] = cost;
    });
    list.count = count;
    list.bound = bound;
    list.made = epoch_;
    return offers;
  }

  const Entries& entries_;
  const AuctionScale& scale_;
  Side &persons_, &objects_;
  std::vector<List> lists_;
  std::int64_t epoch_ = 0;
  std::deque<Index> queue_;
};

/// The columns' entries as rows; sparse ones are copied.
template <class Entries>
class ByColumn {
 public:
  explicit ByColumn(const Entries& e) {
    if constexpr (std::is_same_v<Entries, SparseEntries>) {
      const auto edges = static_cast<std::size_t>(e.offsets[e.rows]);
      const BipartiteGraphView graph{e.rows, e.cols, {e.offsets, at(e.rows) + 1}, {e.col_index, edges}};
      costs_ = transpose(SparseCostsView{graph, {e.cost, edges}, {}, {}});
      entries = {e.cols, e.rows, costs_.graph.row_offsets.data(), costs_.graph.col_index.data(),
                 costs_.cost.data()};
    } else {
      entries = exchanged(e);
    }
  }
  Entries entries;

 private:
  SparseCosts costs_;
};

template <class Entries>
Cost mean_gap(const Canonical<Entries>& problem, Market<Entries>& market, const Side& rows) {
  Cost sum = 0, count = 0;
  for (Index i = 0; i < std::min(problem.rows, kGapSample); ++i) {
    const Cost gap = gap_of(market.offers_of(i), rows.exit[at(i)]);
    if (gap < 0) continue;
    sum += std::min(gap, kLargestGap);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace

template <class Entries>
AuctionResult auction_on_cpu(const Canonical<Entries>& problem, const AuctionScale& scale,
                             const AuctionOptions& options, AuctionStart&& start,
                             std::vector<Cost>& pair_cost) {
  using RowMarket = Market<Entries>;
  Side rows{std::vector<Cost>(at(problem.rows), 0), std::move(start.row_to_col),
            std::vector<Cost>(at(problem.rows), kInfiniteCost)};
  Side cols{start.v, std::move(start.col_to_row), problem.start};
  for (Index i = 0; i < problem.rows; ++i)
    if (const Cost exit = problem.exit_of(i); exit != kInfiniteCost) rows.exit[at(i)] = exit * scale.steps;
  for (Cost& ask : cols.exit) ask *= scale.steps;

  RowMarket by_row(problem.entries, scale, rows, cols);
  const auto give_up = [&](Index i) {
    Index& j = rows.mate[at(i)];
    if (j != -1) cols.mate[at(j)] = -1;
    j = -1;
    by_row.enqueue(i);
  };
  for (Index i = 0; i < problem.rows; ++i)
    if (rows.mate[at(i)] == -1 || problem.entries.at(i, rows.mate[at(i)]) == kInfiniteCost) give_up(i);

  AuctionResult out;
  out.stats.initial_assignments = start.pairs;
  const std::vector<Cost> epsilons =
      auction_epsilons(options, options.scaled ? mean_gap(problem, by_row, rows) : 0);
  Cost ceiling = feasible_ceiling(problem, scale, start, epsilons.front());
  const std::int64_t all = bid_budget(problem);
  std::int64_t budget = all;
  std::optional<ByColumn<Entries>> columns;
  auto end = RowMarket::End::placed;
  for (const Cost epsilon : epsilons) {
    const bool cold = out.stats.phases++ == 0 && !start.warm;
    // Rows' duals become their best offers, and pairs that miss them by more than epsilon are given up.
    for (Index i = 0; i < problem.rows && !cold; ++i) {
      const Index j = rows.mate[at(i)];
      if (j == -1) continue;
      rows.dual[at(i)] = std::min(by_row.offers_of(i).best, rows.exit[at(i)]);
      if (problem.entries.at(i, j) * scale.steps - cols.dual[at(j)] - rows.dual[at(i)] > epsilon) give_up(i);
    }
    out.reversed = false;
    end = by_row.run(epsilon, ceiling, budget);
    ceiling = kNoOffer;
    if (end != RowMarket::End::placed) break;
    if (problem.perfect || cold || !options.reverse) continue;  // a cold phase bids from the starting prices
    if (!columns) columns.emplace(problem.entries);
    Market<Entries> by_column(columns->entries, scale, cols, rows);
    for (Index j = 0; j < problem.cols; ++j)
      if (cols.mate[at(j)] == -1 && cols.dual[at(j)] < cols.exit[at(j)]) by_column.enqueue(j);
    if (by_column.idle()) continue;
    out.reversed = true;
    end = by_column.run(epsilon, kNoOffer, budget);
    by_row.forget_lists();
    if (end != RowMarket::End::placed) break;
  }
  out.infeasible = end == RowMarket::End::infeasible;
  out.unfinished = end == RowMarket::End::unfinished;
  out.stats.rounds = out.stats.augmentations = all - budget;
  if (out.reversed) {
    pair_cost.assign(at(problem.rows), 0);
    for (Index i = 0; i < problem.rows; ++i)
      if (rows.mate[at(i)] != -1) pair_cost[at(i)] = problem.entries.at(i, rows.mate[at(i)]);
  }
  out.row_to_col = std::move(rows.mate);
  out.u = std::move(rows.dual);
  out.v = std::move(cols.dual);
  return out;
}

#define MOTES_AUCTION(Entries)                                                          \
  template AuctionResult auction_on_cpu(const Canonical<Entries>&, const AuctionScale&, \
                                        const AuctionOptions&, AuctionStart&&, std::vector<Cost>&);
MOTES_AUCTION(SparseEntries)
MOTES_AUCTION(DenseEntries<std::int32_t>)
MOTES_AUCTION(DenseEntries<std::int64_t>)
MOTES_AUCTION(DenseEntries<float>)
MOTES_AUCTION(DenseEntries<double>)
MOTES_AUCTION(GeometricEntries)
#undef MOTES_AUCTION

}  // namespace motes::matching::detail
