#include "matching/assignment/auction_lists.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <numeric>

namespace motes::matching::detail {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

class ListMarket {
 public:
  ListMarket(const CanonicalSides& sides, const AuctionScale& scale, const AuctionStart& start,
             ListSource& source)
      : sides_(sides),
        scale_(scale),
        source_(source),
        listed_(static_cast<std::size_t>(source.listed())),
        dual_(start.v),
        pair_cost_(at(sides.rows), 0),
        row_to_col_(start.row_to_col),
        col_to_row_(start.col_to_row),
        object_(at(sides.rows) * listed_),
        cost_(at(sides.rows) * listed_),
        bound_(at(sides.rows)) {
    std::vector<Index> everybody(at(sides.rows));
    std::iota(everybody.begin(), everybody.end(), 0);
    source.make(everybody, dual_, object_.data(), cost_.data(), bound_.data());
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
  /// Whether the list answers.
  bool offers_of(Index i, Offers& offers) const {
    offers = {};
    const Index* object = object_.data() + at(i) * listed_;
    const Cost* cost = cost_.data() + at(i) * listed_;
    for (std::size_t k = 0; k < listed_; ++k)
      if (object[k] != -1) offers.add(object[k], cost[k], cost[k] - dual_[at(object[k])]);
    return offers.second <= bound_[at(i)];
  }

  /// New lists for all who wait.
  void serve_waiting() {
    fresh_object_.resize(waiting_.size() * listed_);
    fresh_cost_.resize(waiting_.size() * listed_);
    fresh_bound_.resize(waiting_.size());
    source_.make(waiting_, dual_, fresh_object_.data(), fresh_cost_.data(), fresh_bound_.data());
    for (std::size_t k = 0; k < waiting_.size(); ++k) {
      const std::size_t i = at(waiting_[k]);
      std::copy_n(fresh_object_.begin() + static_cast<std::ptrdiff_t>(k * listed_), listed_,
                  object_.begin() + static_cast<std::ptrdiff_t>(i * listed_));
      std::copy_n(fresh_cost_.begin() + static_cast<std::ptrdiff_t>(k * listed_), listed_,
                  cost_.begin() + static_cast<std::ptrdiff_t>(i * listed_));
      bound_[i] = fresh_bound_[k];
    }
  }

  Cost mean_gap() const {
    Cost sum = 0, count = 0;
    Offers offers;
    for (Index i = 0; i < std::min(sides_.rows, kGapSample); ++i) {
      offers_of(i, offers);  // the list is new, so it answers
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
    if (!waiting_.empty()) serve_waiting();
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
        serve_waiting();
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

  const CanonicalSides& sides_;
  const AuctionScale& scale_;
  ListSource& source_;
  std::size_t listed_;
  std::vector<Cost> dual_, pair_cost_;
  std::vector<Index> row_to_col_, col_to_row_;
  std::vector<Index> object_;  ///< [rows * listed]
  std::vector<Cost> cost_, bound_;
  std::vector<Index> waiting_, fresh_object_;
  std::vector<Cost> fresh_cost_, fresh_bound_;
  std::deque<Index> queue_;
};

}  // namespace

AuctionResult auction_on_lists(const CanonicalSides& sides, const AuctionScale& scale,
                               const AuctionOptions& options, const AuctionStart& start, ListSource& source) {
  return ListMarket(sides, scale, start, source).run(options);
}

}  // namespace motes::matching::detail
