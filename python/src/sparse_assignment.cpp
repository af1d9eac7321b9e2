#include "python/src/sparse_assignment.h"

#include <algorithm>
#include <limits>

#include <motes/base/stop.h>

namespace motes::python {
namespace {

constexpr std::size_t kTakesPerRow = 2;  ///< of displaced rows; after that, rows search for a path
constexpr double kRoomForSums = 1e150;
/// A row lowers the price of its column by this share of the column's advantage over the second cheapest one.
/// With the whole advantage both would cost the same, and the proof of optimality would have to check both
/// edges.
constexpr double kNearlyToTheTie = 0.999;
/// Orders the heap by distance, the nearest column first.
struct Farther {
  bool operator()(const std::pair<double, Index>& a, const std::pair<double, Index>& b) const {
    return a.first > b.first;
  }
};

constexpr std::uint32_t kNoEntry = std::numeric_limits<std::uint32_t>::max();

}  // namespace

SparseAssignment::SparseAssignment(const SparseDoubles& problem, double largest, bool exact)
    : problem_(problem),
      fall_(exact ? 1 : kNearlyToTheTie),
      offsets_(problem.graph.row_offsets.data()),
      col_(problem.graph.col_index.data()),
      cost_(problem.cost.data()),
      price_(at(problem.graph.cols)),
      owner_(at(problem.graph.cols), -1),
      held_(at(problem.graph.rows), kNoEntry) {
  // If columns may remain free, the prices of free columns must be 0, so all start at 0.
  if (problem.graph.rows == problem.graph.cols && largest < kRoomForSums) reduce_columns();
}

PricedMatching SparseAssignment::answer() && {
  PricedMatching out;
  out.row_to_col.resize(held_.size());
  for (std::size_t i = 0; i < held_.size(); ++i) out.row_to_col[i] = col_[held_[i]];
  out.col_to_row = std::move(owner_);
  out.v = std::move(price_);
  return out;
}

bool SparseAssignment::solve() {
  const Stop stop = Stop::of_this_thread();
  constexpr std::size_t kAhead = 4;
  const Index rows = problem_.graph.rows;
  for (Index i = 0; i < rows; ++i)
    if (!take_cheapest(i)) return false;
  const std::size_t most = kTakesPerRow * at(rows);
  std::size_t k = 0;
  for (; k < displaced_.size() && k < most; ++k) {
    if (k + kAhead < displaced_.size()) fetch(displaced_[k + kAhead]);
    take_cheapest(displaced_[k]);
  }
  left_.insert(left_.end(), displaced_.begin() + static_cast<std::ptrdiff_t>(k), displaced_.end());
  if (left_.empty()) return true;
  for (const Index i : left_) held_[at(i)] = kNoEntry;
  reached_.resize(owner_.size());
  for (const Index i : left_) {
    stop.check();
    if (!search(i)) return false;
  }
  return true;
}

/// Sets each column's price to its cheapest entry.
void SparseAssignment::reduce_columns() {
  std::fill(price_.begin(), price_.end(), kNone);
  for (std::size_t e = 0; e < problem_.cost.size(); ++e) {
    double& price = price_[at(col_[e])];
    price = cost_[e] < price ? cost_[e] : price;
  }
  for (double& price : price_)
    if (price == kNone) price = 0;
}

/// Takes the row's cheapest column and displaces its owner. A row that cannot take it is put into left_.
/// False if the row has no entry.
bool SparseAssignment::take_cheapest(Index row) {
  const double* price = price_.data();
  double best = kNone, second = kNone;
  Offset found = -1;
  for (Offset e = offsets_[row]; e < offsets_[row + 1];
       ++e) {  // without branches, which would be mispredicted
    const double offer = cost_[e] - price[col_[e]];
    const double larger = offer > best ? offer : best;
    found = offer < best ? e : found;
    best = offer < best ? offer : best;
    second = larger < second ? larger : second;
  }
  if (found == -1) return false;
  const Index j = col_[found];
  const Index owner = owner_[at(j)];
  // A tie does not change the price, and with a single entry there is no second price.
  if (owner != -1 && (second == kNone || !(best < second))) {
    left_.push_back(row);
    return true;
  }
  if (second != kNone) price_[at(j)] -= (second - best) * fall_;
  held_[at(row)] = static_cast<std::uint32_t>(found), owner_[at(j)] = row;
  if (owner != -1) displaced_.push_back(owner);
  return true;
}

/// Prefetches the row's entries.
void SparseAssignment::fetch(Index row) const {
  const Offset begin = offsets_[row];
  __builtin_prefetch(col_ + begin);
  __builtin_prefetch(cost_ + begin);
  __builtin_prefetch(cost_ + begin + 8);
}

bool SparseAssignment::search(Index source) {
  if (stamp_ > std::numeric_limits<std::uint32_t>::max() - 4) {
    for (Reached& column : reached_) column.stamp = 0;
    stamp_ = 0;
  }
  stamp_ += 2;
  heap_.clear(), settled_.clear();
  end_distance_ = kNone, end_ = -1;
  scan(source, 0);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), Farther());
    const auto [distance, j] = heap_.back();
    heap_.pop_back();
    if (distance >= end_distance_) break;
    Reached& here = reached_[at(j)];
    if (here.stamp == stamp_ + 1) continue;  // an outdated entry with a larger distance
    here.stamp = stamp_ + 1;
    settled_.push_back(j);
    const Index row = owner_[at(j)];
    scan(row, distance - (cost_[held_[at(row)]] - price_[at(j)]));
  }
  if (end_ == -1) return false;
  for (const Index j : settled_) price_[at(j)] -= end_distance_ - reached_[at(j)].distance;
  augment(source, end_);
  return true;
}

/// Relaxes the row's entries; one of reduced cost c is at the distance base + c.
void SparseAssignment::scan(Index row, double base) {
  for (Offset e = offsets_[row]; e < offsets_[row + 1]; ++e) {
    const Index j = col_[e];
    const double distance = base + (cost_[e] - price_[at(j)]);
    if (!(distance < end_distance_)) continue;
    Reached& there = reached_[at(j)];
    if (there.stamp == stamp_ + 1 || (there.stamp == stamp_ && distance >= there.distance)) continue;
    there = {distance, row, stamp_};
    if (const Index owner = owner_[at(j)]; owner == -1) {
      end_distance_ = distance, end_ = j;
    } else {
      fetch(owner);
      heap_.emplace_back(distance, j);
      std::push_heap(heap_.begin(), heap_.end(), Farther());
    }
  }
}

void SparseAssignment::augment(Index source, Index end) {
  for (Index j = end, row = -1; row != source;) {
    row = reached_[at(j)].from;
    const Index before = row == source ? -1 : col_[held_[at(row)]];
    const Index* list = col_ + offsets_[row];
    held_[at(row)] = static_cast<std::uint32_t>(std::lower_bound(list, col_ + offsets_[row + 1], j) - col_);
    owner_[at(j)] = row;
    j = before;
  }
}

}  // namespace motes::python
