#pragma once
/// The control of the alternating-tree search (hungarian.h): forests, bands, ends, duals, augmentations. The
/// columns' labels are behind `Columns`, which may be all here, distributed over ranks, or on GPUs:
///
///   void begin(roots)                  no labels; the roots of a forest are the frontier. Duals and partners
///                                      of the state, which is the same on every rank, hold until the next.
///   std::int64_t scan(reach)           one round over the frontier; returns how many rows the next one has
///   Cost close(closed, reach, finals)  the labels in (closed, reach], of all columns; returns the least
///                                      label beyond, kFar where there is none
///   std::int64_t open(closed, reach)   makes partners of columns with such labels the frontier; their number
///
/// Every rank runs this search with the same values, so everything that follows from gathered labels is
/// computed, not sent.

#include <algorithm>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/timer.h>

#include "matching/papers/hungarian/band.h"
#include "matching/papers/hungarian/column_scan.h"
#include "matching/papers/hungarian/search.h"

namespace motes::matching::detail {

/// A column's label that will not change.
struct FinalLabel {
  Cost key = 0;
  Index col = 0, pred = 0;
};

template <class Columns>
class TreeSearch {
 public:
  TreeSearch(const CanonicalSides& sides, StartState& state, Columns& columns, Stats& stats)
      : sides_(sides),
        state_(state),
        columns_(columns),
        stats_(stats),
        key_(at(sides.cols), kFar),
        pred_(at(sides.cols), -1),
        end_key_(at(sides.rows), kFar),
        end_(at(sides.rows), -1),
        roots_(first_roots(sides, state)) {}

  /// Returns false if some vertex that must be matched cannot be.
  bool run() {
    while (!roots_.empty()) {
      auto clock = std::chrono::steady_clock::now();
      const Cost rise = grow();
      stats_.seconds["forward_pass"] += seconds_since(clock);
      if (rise < 0) return false;
      ++stats_.phases;
      clock = std::chrono::steady_clock::now();
      choose_exits(rise);
      stats_.seconds["reverse_pass"] += seconds_since(clock);
      clock = std::chrono::steady_clock::now();
      update_duals(rise);
      stats_.seconds["dual_update"] += seconds_since(clock);
      clock = std::chrono::steady_clock::now();
      augment(rise);
      stats_.seconds["augmentation_pass"] += seconds_since(clock);
    }
    return true;
  }

 private:
  Index mate(Index col) const { return state_.col_to_row[at(col)]; }
  Cost distance(Index row) const {
    const Index col = state_.row_to_col[at(row)];
    return col == -1 ? 0 : key_[at(col)];
  }
  /// How far a row in the forest is from its exit.
  Cost exit_key(Index row, Cost d) const {
    const Cost exit = sides_.exit_of(row);
    return exit == kInfiniteCost ? kFar : std::min(kFar, d + exit - state_.u[at(row)]);
  }

  /// Forward pass: labels grow, band after band, until enough trees have ends. Returns by how much the
  /// roots' duals rise, -1 where a tree can have no end.
  Cost grow() {
    for (const FinalLabel& label : labelled_) key_[at(label.col)] = kFar;
    labelled_.clear();
    nearest_exit_ = collision_ = kFar;
    trees_ended_ = 0;
    last_end_ = 0;
    for (const Index i : roots_) {
      end_key_[at(i)] = kFar;
      end_[at(i)] = -1;
      nearest_exit_ = std::min(nearest_exit_, exit_key(i, 0));
    }
    columns_.begin(roots_);
    auto frontier = static_cast<std::int64_t>(roots_.size());
    band_.reach = 0;
    band_.scanned = 0;
    for (Cost closed = -1;;) {
      while (frontier > 0) {
        ++stats_.rounds;
        band_.scanned += frontier;
        frontier = columns_.scan(band_.reach);
      }
      const Cost nearest = columns_.close(closed, band_.reach, finals_);
      settle();
      const Cost limit = sides_.perfect ? kFar : std::min(nearest_exit_, collision_);
      const bool exhausted = nearest >= kFar;
      const bool enough = trees_ended_ >= trees_wanted(static_cast<std::int64_t>(roots_.size()));
      if (!sides_.perfect && limit < kFar && (limit <= band_.reach || limit <= nearest)) {
        if (limit > band_.reach) {  // labels of just that key decide which row leaves
          columns_.close(band_.reach, limit, finals_);
          keep();
        }
        return limit;
      }
      if (enough || (exhausted && trees_ended_ > 0)) return last_end_;
      if (exhausted) return -1;
      closed = band_.reach;
      band_.advance(nearest, limit);
      frontier = columns_.open(closed, band_.reach);
    }
  }

  void keep() {
    for (const FinalLabel& label : finals_) {
      key_[at(label.col)] = label.key;
      pred_[at(label.col)] = label.pred;
    }
    labelled_.insert(labelled_.end(), finals_.begin(), finals_.end());
  }

  /// Finds the ends among these labels.
  void settle() {
    keep();
    for (const auto& [key, j, pred] : finals_) {
      if (mate(j) != -1) {
        nearest_exit_ = std::min(nearest_exit_, exit_key(mate(j), key));
        continue;
      }
      const Index root = root_of(state_, pred_, pred);
      Cost& end_key = end_key_[at(root)];
      trees_ended_ += end_key == kFar;
      if (end_key != kFar) collision_ = std::min(collision_, std::max(key, end_key));
      if (key < end_key || (key == end_key && j < end_[at(root)])) end_key = key, end_[at(root)] = j;
    }
    for (const Index i : roots_)
      if (end_key_[at(i)] != kFar) last_end_ = std::max(last_end_, end_key_[at(i)]);
  }

  /// Exits at distance `rise`: each ends its tree, if that has no nearer end.
  void choose_exits(Cost rise) {
    if (sides_.perfect || nearest_exit_ != rise) return;
    const auto offer = [&](Index row) {
      if (exit_key(row, distance(row)) != rise) return;
      const Index root = root_of(state_, pred_, row);
      if (end_key_[at(root)] <= rise && end_[at(root)] < sides_.cols) return;
      end_key_[at(root)] = rise;
      // Rows follow the columns' numbers.
      const Index code = end_[at(root)] < sides_.cols ? -1 : end_[at(root)] - sides_.cols;
      if (code == -1 || row < code) end_[at(root)] = sides_.cols + row;
    };
    for (const Index i : roots_) offer(i);
    for (const auto& [key, j, pred] : labelled_)
      if (key <= rise && mate(j) != -1) offer(mate(j));
  }

  /// If no dual has a fixed level (perfect), everything beyond the forest moves instead of the roots, which
  /// keeps the duals as close to zero as the costs allow.
  void update_duals(Cost rise) {
    if (rise == 0) return;
    if (sides_.perfect) {
      for (Index j = 0; j < sides_.cols; ++j) {
        const Cost by = std::min(rise, key_[at(j)]);
        state_.v[at(j)] += by;
        if (mate(j) != -1) state_.u[at(mate(j))] -= by;
      }
      return;
    }
    for (const Index i : roots_) state_.u[at(i)] += rise;
    for (const auto& [key, j, pred] : labelled_) {
      if (key >= rise) continue;
      state_.v[at(j)] -= rise - key;
      if (mate(j) != -1) state_.u[at(mate(j))] += rise - key;
    }
  }

  void augment(Cost rise) {
    std::int64_t gained = 0;
    std::vector<Index> left;
    for (const Index root : roots_) {
      const Index end = end_[at(root)];
      if (end == -1 || end_key_[at(root)] > rise) {
        left.push_back(root);
        continue;
      }
      ++stats_.augmentations;
      Index col = end;
      if (end >= sides_.cols) {  // that row leaves; the column it held becomes the path's end
        Index& held = state_.row_to_col[at(end - sides_.cols)];
        col = held;
        held = -1;
      } else {
        ++gained;
      }
      flip_path(state_, pred_, col);
    }
    roots_.swap(left);
    stats_.assignments.push_back(gained);
  }

  const CanonicalSides& sides_;
  StartState& state_;
  Columns& columns_;
  Stats& stats_;
  std::vector<Cost> key_;             ///< [cols] final labels: distance from the nearest root; kFar: none
  std::vector<Index> pred_;           ///< [cols] the row that gave the label
  std::vector<FinalLabel> labelled_;  ///< all of this forest
  std::vector<FinalLabel> finals_;    ///< of this band
  std::vector<Cost> end_key_;         ///< [rows] of a root: distance of its tree's nearest end
  std::vector<Index> end_;  ///< [rows] that end: a free column, or cols + a row that leaves; -1: none
  std::vector<Index> roots_;
  Band band_;
  Cost nearest_exit_ = kFar;  ///< of the final labels' rows
  Cost collision_ = kFar;     ///< nearest end of a tree that has a nearer one
  Cost last_end_ = 0;         ///< farthest of the trees' nearest ends
  std::int64_t trees_ended_ = 0;
};

}  // namespace motes::matching::detail
