#pragma once
/// The control of the classical search (hungarian.h): covers, dual updates, ends, augmentations. The rows of
/// the matrix are behind `Rows`, which may be all here, distributed over ranks, or on GPUs:
///
///   void begin()                             no row is in a tree. Duals and partners are those of the state,
///                                            which is the same on every rank.
///   void expand(entered, covered, claims)    reads rows that entered a tree, and rows whose least slack was
///                                            used up: which uncovered columns do they have zeros in, and
///                                            what is their least slack elsewhere? `claims`: of all ranks,
///                                            each column with a row that may have it
///   Cost least_slack()                       of all tree rows, to uncovered columns; kFar: none
///   void subtract(theta)                     from it, row by row
///
/// Every rank runs this search with the same values.

#include <algorithm>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/timer.h>

#include "matching/assignment/canonical/search_rules.h"
#include "matching/papers/hungarian/search.h"

namespace motes::matching::detail {

/// A column, and the rank (rank_of) of the row that claims it.
struct Claim {
  Index col = 0;
  std::uint32_t rank = kNoRank;
};

template <class Rows>
class CoverSearch {
 public:
  CoverSearch(const CanonicalSides& sides, StartState& state, Rows& rows, Stats& stats)
      : sides_(sides),
        state_(state),
        rows_(rows),
        stats_(stats),
        covered_(at(sides.cols), 0),
        claim_(at(sides.cols), kNoRank),
        pred_(at(sides.cols), -1),
        end_(at(sides.rows), kNoRank),
        exit_(at(sides.rows), kNoRank),
        roots_(first_roots(sides, state)) {}

  /// Returns false if some vertex that must be matched cannot be.
  bool run() {
    while (!roots_.empty()) {
      uncover();
      for (bool found = false; !found;) {
        auto clock = std::chrono::steady_clock::now();
        while (!entered_.empty() || again_) expand();
        stats_.seconds["forward_pass"] += seconds_since(clock);
        found = ends_ > 0;
        clock = std::chrono::steady_clock::now();
        const bool feasible = found || update_duals();
        stats_.seconds["dual_update"] += seconds_since(clock);
        if (!feasible) return false;
      }
      ++stats_.phases;
      auto clock = std::chrono::steady_clock::now();
      choose_ends();
      stats_.seconds["reverse_pass"] += seconds_since(clock);
      clock = std::chrono::steady_clock::now();
      augment();
      stats_.seconds["augmentation_pass"] += seconds_since(clock);
    }
    return true;
  }

 private:
  Index mate(Index col) const { return state_.col_to_row[at(col)]; }

  void uncover() {
    for (const Index j : covered_cols_) covered_[at(j)] = 0;
    tree_rows_.clear();
    covered_cols_.clear();
    entered_.clear();
    ends_ = 0;
    again_ = false;
    rows_.begin();
    for (const Index root : roots_) {
      end_[at(root)] = exit_[at(root)] = kNoRank;
      enter(root);
    }
  }
  void enter(Index row) {
    tree_rows_.push_back(row);
    entered_.push_back(row);
    ends_ += state_.u[at(row)] == sides_.exit_of(row);
  }

  /// One level of the forward pass: each claimed column goes to the row of least rank.
  void expand() {
    ++stats_.rounds;
    rows_.expand(entered_, covered_, claims_);
    asked_.clear();
    for (const auto& [j, rank] : claims_) {
      std::uint32_t& claim = claim_[at(j)];
      if (claim == kNoRank) asked_.push_back(j);
      claim = std::min(claim, rank);
    }
    entered_.clear();
    again_ = false;
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

  /// Moves the duals of rows in trees and covered columns by the least slack known; rows that reach it are
  /// read again. False if there is none.
  bool update_duals() {
    const Cost slack = rows_.least_slack();
    Cost theta = slack;
    for (const Index i : tree_rows_) {
      const Cost exit = sides_.exit_of(i);
      if (exit != kInfiniteCost) theta = std::min(theta, exit - state_.u[at(i)]);
    }
    if (theta == kFar) return false;
    rows_.subtract(theta);
    again_ = slack == theta;
    for (const Index j : covered_cols_) state_.v[at(j)] -= theta;
    for (const Index i : tree_rows_) {
      state_.u[at(i)] += theta;
      ends_ += state_.u[at(i)] == sides_.exit_of(i);
    }
    return true;
  }

  /// Chooses one end for each tree: its least free column, else its least row with a tight exit.
  void choose_ends() {
    const auto offer = [](std::uint32_t& end, Index k) {
      end = std::min(end, static_cast<std::uint32_t>(k));
    };
    for (const Index j : covered_cols_)
      if (mate(j) == -1) offer(end_[at(root_of(state_, pred_, pred_[at(j)]))], j);
    for (const Index i : tree_rows_)
      if (state_.u[at(i)] == sides_.exit_of(i)) offer(exit_[at(root_of(state_, pred_, i))], i);
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

  const CanonicalSides& sides_;
  StartState& state_;
  Rows& rows_;
  Stats& stats_;
  std::vector<char> covered_;              ///< [cols] in a tree
  std::vector<std::uint32_t> claim_;       ///< [cols] least rank of the rows that claim it; kNoRank: none
  std::vector<Index> pred_;                ///< [cols] the row that covered it
  std::vector<std::uint32_t> end_, exit_;  ///< [rows] of a root: its end; kNoRank: none
  std::vector<Claim> claims_;
  std::vector<Index> tree_rows_, covered_cols_, entered_, asked_, roots_;
  std::int64_t ends_ = 0;
  bool again_ = false;  ///< rows whose least slack was used up wait to be read
};

}  // namespace motes::matching::detail
