#pragma once
/// The rows that a rank holds, on the CPU, for CoverSearch (cover_search.h): Date & Nagi 2016, section 5,
/// classical variant. The zeros of the rows that are read are compressed, and what every rank found is
/// gathered: of each column only the row that wins it among this rank's.

#include <vector>

#include <motes/base/communicator.h>

#include "matching/papers/hungarian/cover_search.h"
#include "matching/papers/hungarian/initial_reduction.h"

namespace motes::matching::detail {

template <class Entries>
class RowShare {
 public:
  /// `entries`: rows [first, first + entries.rows) of the problem, all columns. Without ranks: all rows.
  RowShare(const Entries& entries, Index first, const StartState& state, int threads, Communicator* ranks)
      : entries_(entries),
        first_(first),
        threads_(threads),
        state_(state),
        ranks_(ranks),
        slack_(at(entries.rows), kFar),
        claim_(at(entries.cols), kNoRank),
        zeros_(at(entries.rows)) {}

  void begin() {
    mine_.clear();
    again_.clear();
  }

  void expand(const std::vector<Index>& entered, const std::vector<char>& covered,
              std::vector<Claim>& claims) {
    active_.swap(again_);
    again_.clear();
    for (const Index i : entered) {
      if (i < first_ || i - first_ >= entries_.rows) continue;
      mine_.push_back(i - first_);
      active_.push_back(i - first_);
    }
    read_rows(covered);
    claimed_.clear();
    for (const Index i : active_)
      for (const Index j : zeros_[at(i)]) {
        std::uint32_t& claim = claim_[at(j)];
        if (claim == kNoRank) claimed_.push_back({j, kNoRank});
        claim = std::min(claim, rank_of(first_ + i, scramble(j)));
      }
    for (Claim& claim : claimed_) claim.rank = std::exchange(claim_[at(claim.col)], kNoRank);
    active_.clear();
    if (ranks_ == nullptr)
      claims.swap(claimed_);
    else
      ranks_->all_gather<Claim>(claimed_, claims);
  }

  Cost least_slack() {
    Cost least = kFar;
    for (const Index i : mine_) least = std::min(least, slack_[at(i)]);
    return ranks_ == nullptr ? least : ranks_->all_reduce(least, Reduction::min);
  }

  void subtract(Cost theta) {
    for (const Index i : mine_) {
      if (slack_[at(i)] == kFar) continue;
      slack_[at(i)] -= theta;
      if (slack_[at(i)] == 0) again_.push_back(i);
    }
  }

 private:
  /// The active rows' zeros among the uncovered columns are compressed into lists, and what else the rows see
  /// is kept as their least slack.
  void read_rows(const std::vector<char>& covered) {
    std::int64_t work = 0;
    for (const Index i : active_) work += length_of(entries_, i);
    over_range(threads_, static_cast<Index>(active_.size()), work, 16, [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) {
        const Index i = active_[at(k)];
        const Cost u = state_.u[at(first_ + i)];
        Cost least = kFar;
        zeros_[at(i)].clear();
        entries_.for_each(i, 0, 1, [&](Index j, Cost c) {
          const Cost slack = c - u - state_.v[at(j)];
          if (covered[at(j)] != 0) return;
          if (slack == 0)
            zeros_[at(i)].push_back(j);
          else
            least = std::min(least, slack);
        });
        slack_[at(i)] = least;
      }
    });
  }

  const Entries entries_;
  Index first_;
  int threads_;
  const StartState& state_;
  Communicator* ranks_;
  std::vector<Cost> slack_;  ///< of a tree's row: no more than its least slack to an uncovered column
  std::vector<std::uint32_t> claim_;       ///< [cols] least rank of this level's rows with a zero there
  std::vector<std::vector<Index>> zeros_;  ///< uncovered columns of slack 0
  std::vector<Index> mine_;                ///< rows in trees, counted from first_
  std::vector<Index> active_, again_;      ///< rows to read now, and after a dual update
  std::vector<Claim> claimed_;
};

}  // namespace motes::matching::detail
