/// The search of the classical variant on the CPU. Rounds are synchronous and ties have one winner
/// (rules.h): threads, which share out rows, never change a bit, and the GPU form
/// (classical.cu) gives the same answer.

#include "matching/papers/hungarian/classical.h"

#include <motes/base/index.h>
#include <motes/base/timer.h>

#include "matching/papers/hungarian/initial_reduction.h"
#include "matching/papers/hungarian/search.h"

namespace motes::matching::detail {
namespace {

template <class Entries>
class Covers {
 public:
  Covers(const Canonical<Entries>& problem, int threads)
      : problem_(problem),
        threads_(threads),
        slack_(at(problem.rows), kFar),
        covered_(at(problem.cols), 0),
        claim_(at(problem.cols), kNoRank),
        pred_(at(problem.cols), -1),
        end_(at(problem.rows), kNoRank),
        exit_(at(problem.rows), kNoRank),
        zeros_(at(problem.rows)) {}

  Solution solve(const Start& given) {
    infeasible_ = !begin_hungarian(problem_, given, threads_, state_, stats_);
    if (!infeasible_) roots_ = first_roots(problem_, state_);
    while (!roots_.empty() && !infeasible_) {
      uncover();
      for (bool found = false; !found && !infeasible_;) {
        auto clock = std::chrono::steady_clock::now();
        while (!active_.empty()) expand();
        stats_.seconds["forward_pass"] += seconds_since(clock);
        found = ends_ > 0;
        clock = std::chrono::steady_clock::now();
        if (!found) infeasible_ = !update_duals();
        stats_.seconds["dual_update"] += seconds_since(clock);
      }
      if (infeasible_) break;
      ++stats_.phases;
      auto clock = std::chrono::steady_clock::now();
      choose_ends();
      stats_.seconds["reverse_pass"] += seconds_since(clock);
      clock = std::chrono::steady_clock::now();
      augment();
      stats_.seconds["augmentation_pass"] += seconds_since(clock);
    }
    return {std::move(state_.row_to_col), std::move(state_.v), infeasible_, std::move(stats_)};
  }

 private:
  Index mate(Index col) const { return state_.col_to_row[at(col)]; }

  void uncover() {
    for (const Index j : covered_cols_) covered_[at(j)] = 0;
    tree_rows_.clear();
    covered_cols_.clear();
    active_.clear();
    ends_ = 0;
    for (const Index root : roots_) {
      end_[at(root)] = exit_[at(root)] = kNoRank;
      enter(root);
    }
  }
  void enter(Index row) {
    tree_rows_.push_back(row);
    active_.push_back(row);
    ends_ += state_.u[at(row)] == problem_.exit_of(row);
  }

  /// One level of the forward pass: the active rows' zeros among the uncovered columns are compressed into
  /// lists, and what else the rows see is kept as their least slack; then each column asked for goes to the
  /// row of least rank.
  void expand() {
    ++stats_.rounds;
    std::int64_t work = 0;
    for (const Index i : active_) work += length_of(problem_.entries, i);
    over_range(threads_, static_cast<Index>(active_.size()), work, 16, [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) {
        const Index i = active_[at(k)];
        const Cost u = state_.u[at(i)];
        Cost least = kFar;
        zeros_[at(i)].clear();
        problem_.entries.for_each(i, 0, 1, [&](Index j, Cost c) {
          const Cost slack = c - u - state_.v[at(j)];
          if (covered_[at(j)] != 0) return;
          if (slack == 0)
            zeros_[at(i)].push_back(j);
          else
            least = std::min(least, slack);
        });
        slack_[at(i)] = least;
      }
    });
    asked_.clear();
    for (const Index i : active_)
      for (const Index j : zeros_[at(i)]) {
        std::uint32_t& claim = claim_[at(j)];
        if (claim == kNoRank) asked_.push_back(j);
        claim = std::min(claim, rank_of(i, scramble(j)));
      }
    active_.clear();
    for (const Index j : asked_) {
      pred_[at(j)] = row_of_rank(claim_[at(j)], scramble(j));
      claim_[at(j)] = kNoRank;
      covered_[at(j)] = 1;
      covered_cols_.push_back(j);
      if (mate(j) == -1)
        ++ends_;
      else
        enter(mate(j));
    }
  }

  /// Rows in trees and covered columns move by the least slack known; rows that reach it look again. False:
  /// there is none.
  bool update_duals() {
    Cost theta = kFar;
    for (const Index i : tree_rows_) {
      theta = std::min(theta, slack_[at(i)]);
      const Cost exit = problem_.exit_of(i);
      if (exit != kInfiniteCost) theta = std::min(theta, exit - state_.u[at(i)]);
    }
    if (theta == kFar) return false;
    for (const Index j : covered_cols_) state_.v[at(j)] -= theta;
    for (const Index i : tree_rows_) {
      state_.u[at(i)] += theta;
      ends_ += state_.u[at(i)] == problem_.exit_of(i);
      if (slack_[at(i)] == kFar) continue;
      slack_[at(i)] -= theta;
      if (slack_[at(i)] == 0) active_.push_back(i);
    }
    return true;
  }

  /// Of each tree one end: its least free column, else its least row with a tight exit.
  void choose_ends() {
    const auto offer = [](std::uint32_t& end, Index k) {
      end = std::min(end, static_cast<std::uint32_t>(k));
    };
    for (const Index j : covered_cols_)
      if (mate(j) == -1) offer(end_[at(root_of(state_, pred_, pred_[at(j)]))], j);
    for (const Index i : tree_rows_)
      if (state_.u[at(i)] == problem_.exit_of(i)) offer(exit_[at(root_of(state_, pred_, i))], i);
  }

  void augment() {
    std::int64_t gained = 0;
    std::vector<Index> left;
    for (const Index root : roots_) {
      Index col = -1;
      if (end_[at(root)] != kNoRank) {
        col = static_cast<Index>(end_[at(root)]);
        ++gained;
      } else if (exit_[at(root)] != kNoRank) {  // that row leaves; its column becomes the path's end
        std::swap(state_.row_to_col[at(static_cast<Index>(exit_[at(root)]))], col);
      } else {
        left.push_back(root);
        continue;
      }
      ++stats_.augmentations;
      flip_path(state_, pred_, col);
    }
    roots_.swap(left);
    stats_.assignments.push_back(gained);
  }

  const Canonical<Entries>& problem_;
  int threads_;
  StartState state_;
  std::vector<Cost> slack_;  ///< [rows] of a tree's row: no more than its least slack to an uncovered column
  std::vector<char> covered_;              ///< [cols] in a tree
  std::vector<std::uint32_t> claim_;       ///< [cols] least rank of this level's rows with a zero there
  std::vector<Index> pred_;                ///< [cols] the row that covered it
  std::vector<std::uint32_t> end_, exit_;  ///< [rows] of a root: its end; kNoRank: none
  std::vector<std::vector<Index>> zeros_;  ///< [rows] uncovered columns of slack 0
  std::vector<Index> tree_rows_, covered_cols_, active_, asked_, roots_;
  std::int64_t ends_ = 0;
  bool infeasible_ = false;
  Stats stats_;
};

}  // namespace

template <class Entries>
Solution solve_by_covers(const Execution& execution, const Canonical<Entries>& problem, const Start& start) {
  return Covers<Entries>(problem, thread_count(execution)).solve(start);
}

template Solution solve_by_covers(const Execution&, const Canonical<SparseEntries>&, const Start&);
template Solution solve_by_covers(const Execution&, const Canonical<DenseEntries<std::int32_t>>&,
                                  const Start&);
template Solution solve_by_covers(const Execution&, const Canonical<DenseEntries<std::int64_t>>&,
                                  const Start&);
template Solution solve_by_covers(const Execution&, const Canonical<DenseEntries<float>>&, const Start&);
template Solution solve_by_covers(const Execution&, const Canonical<DenseEntries<double>>&, const Start&);
template Solution solve_by_covers(const Execution&, const Canonical<GeometricEntries>&, const Start&);

}  // namespace motes::matching::detail
