/// Sequential bids from short lists, and requests for new ones.

#include "matching/papers/auction/short_list_auction.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <numeric>

#include <motes/base/for_each_task.h>
#include <motes/base/index.h>

namespace motes::matching::detail {
namespace {

constexpr std::size_t kRowsPerTask = 256;

/// An object on a list; object -1 and an offer of kNoOffer in empty places.
struct Listed {
  Cost offered = kNoOffer;  ///< offer when the list was made
  Cost cost = 0;
  Index object = -1;
};

class ListMarket {
 public:
  ListMarket(int threads, const CanonicalSides& sides, const AuctionScale& scale, const AuctionStart& start,
             ListSource& source)
      : threads_(threads),
        sides_(sides),
        scale_(scale),
        source_(source),
        listed_(static_cast<std::size_t>(source.listed())),
        dual_(start.v),
        pair_cost_(at(sides.rows), 0),
        row_to_col_(start.row_to_col),
        col_to_row_(start.col_to_row),
        lists_(at(sides.rows) * listed_),
        bound_(at(sides.rows)) {
    std::vector<Index> all_persons(at(sides.rows));
    std::iota(all_persons.begin(), all_persons.end(), 0);
    renew(all_persons);
  }

  AuctionResult run(const AuctionOptions& options) {
    AuctionResult out;
    std::int64_t budget = bid_budget(sides_);
    const std::int64_t all = budget;
    const std::vector<Cost> epsilons = auction_epsilons(options, options.scaled ? mean_gap() : 0);
    AuctionStart cold;
    cold.v = dual_;
    Cost ceiling = feasible_ceiling(sides_, scale_, cold, epsilons.front());
    for (const Cost epsilon : epsilons) {
      if (out.stats.phases++ == 0) {
        for (Index i = 0; i < sides_.rows; ++i) queue_.push_back(i);
      } else {
        give_up(epsilon);
      }
      if (!place_all(epsilon, ceiling, budget, out)) break;
      ceiling = kNoOffer;
    }
    out.stats.rounds = out.stats.augmentations = all - budget;
    out.row_to_col = std::move(row_to_col_);
    out.v = std::move(dual_);
    return out;
  }

 private:
  /// Whether the list suffices. Offers only rise while a list is in use, so the search ends at the first
  /// object whose offer at the time of the list was no better than the present second best.
  bool offers_of(Index i, Offers& offers) const {
    offers = {};
    const Listed* entry = lists_.data() + at(i) * listed_;
    for (std::size_t k = 0; k < listed_ && entry[k].offered < offers.second; ++k)
      offers.add(entry[k].object, entry[k].cost, entry[k].cost - dual_[at(entry[k].object)]);
    return offers.second <= bound_[at(i)];
  }

  /// Makes new lists for these rows at the present duals, best offer first.
  void renew(std::span<const Index> rows) {
    object_.resize(rows.size() * listed_);
    cost_.resize(rows.size() * listed_);
    fresh_bound_.resize(rows.size());
    source_.make(rows, dual_, object_.data(), cost_.data(), fresh_bound_.data());
    const int threads = rows.size() <= kRowsPerTask ? 1 : threads_;
    for_each_block(threads, rows.size(), kRowsPerTask, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) {
        const auto begin = lists_.begin() + static_cast<std::ptrdiff_t>(at(rows[k]) * listed_);
        for (std::size_t e = 0; e < listed_; ++e) {
          const Index j = object_[k * listed_ + e];
          const Cost cost = cost_[k * listed_ + e];
          begin[static_cast<std::ptrdiff_t>(e)] =
              j == -1 ? Listed{kNoOffer, 0, -1} : Listed{cost - dual_[at(j)], cost, j};
        }
        std::sort(begin, begin + static_cast<std::ptrdiff_t>(listed_), [](const Listed& x, const Listed& y) {
          return x.offered != y.offered ? x.offered < y.offered : x.object < y.object;
        });
        bound_[at(rows[k])] = fresh_bound_[k];
      }
    });
  }

  Cost mean_gap() const {
    Cost sum = 0, count = 0;
    Offers offers;
    for (Index i = 0; i < std::min(sides_.rows, kGapSample); ++i) {
      offers_of(i, offers);  // the list is new, so it suffices
      const Cost gap = gap_of(offers, kInfiniteCost);
      if (gap < 0) continue;
      sum += std::min(gap, kLargestGap);
      ++count;
    }
    return count == 0 ? 0 : sum / count;
  }

  /// Pairs that miss their row's best offer by more than epsilon are given up.
  void give_up(Cost epsilon) {
    Offers offers;
    waiting_.clear();
    for (Index i = 0; i < sides_.rows; ++i)
      if (!offers_of(i, offers)) waiting_.push_back(i);
    if (!waiting_.empty()) renew(waiting_);
    waiting_.clear();
    for (Index i = 0; i < sides_.rows; ++i) {
      Index& j = row_to_col_[at(i)];
      offers_of(i, offers);
      if (pair_cost_[at(i)] - dual_[at(j)] - offers.best <= epsilon) continue;
      col_to_row_[at(j)] = -1;
      j = -1;
      queue_.push_back(i);
    }
  }

  bool place_all(Cost epsilon, Cost ceiling, std::int64_t& budget, AuctionResult& out) {
    while (true) {
      if (queue_.empty()) {
        if (waiting_.empty()) return true;
        renew(waiting_);
        queue_.assign(waiting_.begin(), waiting_.end());
        waiting_.clear();
      }
      const Index i = queue_.front();
      queue_.pop_front();
      Offers offers;
      if (!offers_of(i, offers)) {
        waiting_.push_back(i);
        continue;
      }
      if (budget-- <= 0) {
        out.unfinished = true;
        return false;
      }
      const Bid bid = bid_of(offers, kInfiniteCost, epsilon, scale_.widest);
      out.infeasible = bid.move == Move::stuck || offers.best > ceiling;
      out.unfinished = !out.infeasible && bid.dual < kLowestDual;
      if (out.infeasible || out.unfinished) return false;
      Index& owner = col_to_row_[at(bid.object)];
      if (owner != -1) {
        row_to_col_[at(owner)] = -1;
        queue_.push_back(owner);
      }
      owner = i;
      row_to_col_[at(i)] = bid.object;
      dual_[at(bid.object)] = bid.dual;
      pair_cost_[at(i)] = bid.cost;
    }
  }

  int threads_;
  const CanonicalSides& sides_;
  const AuctionScale& scale_;
  ListSource& source_;
  std::size_t listed_;
  std::vector<Cost> dual_, pair_cost_;
  std::vector<Index> row_to_col_, col_to_row_;
  std::vector<Listed> lists_;  ///< [rows * listed] of each row: best offer first when made
  std::vector<Cost> bound_;    ///< [rows]
  std::vector<Index> waiting_;
  std::vector<Index> object_;  // as the source returns them
  std::vector<Cost> cost_, fresh_bound_;
  std::deque<Index> queue_;
};

}  // namespace

AuctionResult auction_on_lists(const Execution& execution, const CanonicalSides& sides,
                               const AuctionScale& scale, const AuctionOptions& options,
                               const AuctionStart& start, ListSource& source) {
  return ListMarket(thread_count(execution), sides, scale, start, source).run(options);
}

}  // namespace motes::matching::detail
