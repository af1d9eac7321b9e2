#include "python/src/sparse_assignment.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace motes::python {
namespace {

constexpr std::int64_t kTakesPerRow = 4;  ///< afterwards rows search

}  // namespace

SparseAssignment::SparseAssignment(const SparseDoubles& problem)
    : problem_(problem),
      offsets_(problem.graph.row_offsets.data()),
      col_(problem.graph.col_index.data()),
      cost_(problem.cost.data()),
      held_(at(problem.graph.rows)) {
  answer_.row_to_col.assign(at(problem.graph.rows), -1);
  answer_.col_to_row.assign(at(problem.graph.cols), -1);
  answer_.v.assign(at(problem.graph.cols), 0);
}

bool SparseAssignment::solve() {
  const Index rows = problem_.graph.rows;
  budget_ = kTakesPerRow * rows;
  for (Index i = 0; i < rows; ++i)
    if (!take_cheapest(i)) return false;
  if (left_.empty()) return true;
  reached_.assign(at(problem_.graph.cols), Reached{0, -1, 0});
  via_cost_.resize(at(problem_.graph.cols));
  for (const Index i : left_)
    if (!search(i)) return false;
  return true;
}

/// The row, and those that are displaced in turn; what cannot be settled goes to left_. False: no entry.
bool SparseAssignment::take_cheapest(Index row) {
  while (row != -1) {
    double best = kNone, second = kNone;
    Offset found = -1;
    for (Offset e = offsets_[row]; e < offsets_[row + 1]; ++e) {
      const double offer = cost_[e] - answer_.v[at(col_[e])];
      if (offer < best)
        second = best, best = offer, found = e;
      else if (offer < second)
        second = offer;
    }
    if (found == -1) return false;
    const Index j = col_[found], owner = answer_.col_to_row[at(j)];
    // A tie cannot move the price, an only offer has none, and a price too low to be told from the one before
    // does not move either.
    if (owner != -1 && (second == kNone || !(best < second) || budget_-- <= 0)) {
      left_.push_back(row);
      return true;
    }
    if (second != kNone) answer_.v[at(j)] -= second - best;
    answer_.row_to_col[at(row)] = j, answer_.col_to_row[at(j)] = row;
    held_[at(row)] = cost_[found];
    if (owner != -1) answer_.row_to_col[at(owner)] = -1;
    row = owner;
  }
  return true;
}

bool SparseAssignment::search(Index source) {
  if (stamp_ > std::numeric_limits<std::uint32_t>::max() - 4) {
    for (Reached& r : reached_) r.stamp = 0;
    stamp_ = 0;
  }
  stamp_ += 2;
  heap_.clear(), settled_.clear();
  end_distance_ = kNone, end_ = -1;
  scan(source, 0);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [distance, j] = heap_.back();
    heap_.pop_back();
    if (distance >= end_distance_) break;
    Reached& here = reached_[at(j)];
    if (here.stamp == stamp_ + 1) continue;  // an older, farther entry
    here.stamp = stamp_ + 1;
    settled_.push_back(j);
    const Index row = answer_.col_to_row[at(j)];
    scan(row, distance - (held_[at(row)] - answer_.v[at(j)]));
  }
  if (end_ == -1) return false;
  for (const Index j : settled_) answer_.v[at(j)] -= end_distance_ - reached_[at(j)].distance;
  augment(source, end_);
  return true;
}

/// Relaxes the row's entries; its offer o lies at distance base + o.
void SparseAssignment::scan(Index row, double base) {
  for (Offset e = offsets_[row]; e < offsets_[row + 1]; ++e) {
    const Index j = col_[e];
    const double distance = base + (cost_[e] - answer_.v[at(j)]);
    if (!(distance < end_distance_)) continue;
    Reached& there = reached_[at(j)];
    if (there.stamp == stamp_ + 1 || (there.stamp == stamp_ && distance >= there.distance)) continue;
    there = {distance, row, stamp_};
    via_cost_[at(j)] = cost_[e];
    if (answer_.col_to_row[at(j)] == -1) {
      end_distance_ = distance, end_ = j;
    } else {
      heap_.emplace_back(distance, j);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
}

void SparseAssignment::augment(Index source, Index end) {
  for (Index j = end, row = -1; row != source;) {
    row = reached_[at(j)].row;
    const Index before = answer_.row_to_col[at(row)];
    answer_.row_to_col[at(row)] = j, answer_.col_to_row[at(j)] = row;
    held_[at(row)] = via_cost_[at(j)];
    j = before;
  }
}

}  // namespace motes::python
