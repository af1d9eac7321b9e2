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
      columns_(at(problem.graph.cols)),
      held_(at(problem.graph.rows), -1) {}

PricedMatching SparseAssignment::answer() const {
  PricedMatching out;
  out.row_to_col.resize(held_.size());
  out.col_to_row.resize(columns_.size());
  out.v.resize(columns_.size());
  for (std::size_t i = 0; i < held_.size(); ++i) out.row_to_col[i] = held_[i] == -1 ? -1 : col_[held_[i]];
  for (std::size_t j = 0; j < columns_.size(); ++j)
    out.col_to_row[j] = columns_[j].owner, out.v[j] = columns_[j].v;
  return out;
}

bool SparseAssignment::solve() {
  const Index rows = problem_.graph.rows;
  budget_ = kTakesPerRow * rows;
  for (Index i = 0; i < rows; ++i)
    if (!take_cheapest(i)) return false;
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
      const double offer = cost_[e] - columns_[at(col_[e])].v;
      if (offer < best)
        second = best, best = offer, found = e;
      else if (offer < second)
        second = offer;
    }
    if (found == -1) return false;
    Column& column = columns_[at(col_[found])];
    const Index owner = column.owner;
    // A tie cannot move the price, an only offer has none, and a price too low to be told from the one before
    // does not move either.
    if (owner != -1 && (second == kNone || !(best < second) || budget_-- <= 0)) {
      left_.push_back(row);
      return true;
    }
    if (second != kNone) column.v -= second - best;
    held_[at(row)] = found, column.owner = row;
    if (owner != -1) held_[at(owner)] = -1;
    row = owner;
  }
  return true;
}

bool SparseAssignment::search(Index source) {
  if (stamp_ > std::numeric_limits<std::uint32_t>::max() - 4) {
    for (Column& column : columns_) column.stamp = 0;
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
    Column& here = columns_[at(j)];
    if (here.stamp == stamp_ + 1) continue;  // an older, farther entry
    here.stamp = stamp_ + 1;
    settled_.push_back(j);
    scan(here.owner, distance - (cost_[held_[at(here.owner)]] - here.v));
  }
  if (end_ == -1) return false;
  for (const Index j : settled_) columns_[at(j)].v -= end_distance_ - columns_[at(j)].distance;
  augment(source, end_);
  return true;
}

/// Relaxes the row's entries; its offer o lies at distance base + o.
void SparseAssignment::scan(Index row, double base) {
  for (Offset e = offsets_[row]; e < offsets_[row + 1]; ++e) {
    const Index j = col_[e];
    Column& there = columns_[at(j)];
    const double distance = base + (cost_[e] - there.v);
    if (!(distance < end_distance_)) continue;
    if (there.stamp == stamp_ + 1 || (there.stamp == stamp_ && distance >= there.distance)) continue;
    there.distance = distance, there.from = row, there.stamp = stamp_;
    if (there.owner == -1) {
      end_distance_ = distance, end_ = j;
    } else {
      heap_.emplace_back(distance, j);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
}

void SparseAssignment::augment(Index source, Index end) {
  for (Index j = end, row = -1; row != source;) {
    row = columns_[at(j)].from;
    const Index before = held_[at(row)] == -1 ? -1 : col_[held_[at(row)]];
    const Index* list = col_ + offsets_[row];
    held_[at(row)] = std::lower_bound(list, col_ + offsets_[row + 1], j) - col_;
    columns_[at(j)].owner = row;
    j = before;
  }
}

}  // namespace motes::python
