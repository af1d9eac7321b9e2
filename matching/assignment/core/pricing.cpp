/// Pricing by bounds for whole rows, and scans of the rows that the bounds do not prove.

#include "matching/assignment/core/pricing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>

#include <motes/base/index.h>

#include "matching/assignment/dense/row_keys.h"
#include "matching/assignment/dense/row_scan.h"
#include "matching/points/gated_pairs.h"

namespace motes::matching::detail {
namespace {

/// Sums of two duals below this are exact in double.
constexpr Cost kExactInDouble = Cost{1} << 51;
constexpr double kPointsPerCell = 4;

}  // namespace

BoundProof::BoundProof(const CoreSelection& selection, const std::vector<Cost>& v)
    : selection_(selection), order_(v.size()), rise_(v) {
  for (std::size_t j = 0; j < selection.level.size(); ++j) rise_[j] -= selection.level[j];
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
    return rise_[at(a)] != rise_[at(b)] ? rise_[at(a)] > rise_[at(b)] : a < b;
  });
  std::sort(rise_.begin(), rise_.end(), std::greater<>());
}

std::span<const Index> BoundProof::open(Index i, Cost u) const {
  const Cost slack = selection_.bound[at(i)] + 1 - u;  // columns whose prices rose by up to this are proven
  const auto proven = std::partition_point(rise_.begin(), rise_.end(), [&](Cost x) { return x > slack; });
  return std::span(order_).first(static_cast<std::size_t>(proven - rise_.begin()));
}

template <class Entries>
void find_violating(const Entries& entries, std::span<const Index> columns, Index i, Cost u,
                    const std::vector<Cost>& v, std::vector<CorePair>& found) {
  for (const Index j : columns) {
    const Cost c = entries.at(i, j);
    if (c != kInfiniteCost && c < u + v[at(j)]) found.push_back({j, c});
  }
}

template <class T>
void RowPricer<DenseEntries<T>>::find_among(std::span<const Index> columns, Index i, Cost u,
                                            std::vector<CorePair>& found) const {
  find_violating(entries_, columns, i, u, *v_, found);
}
void RowPricer<GeometricEntries>::find_among(std::span<const Index> columns, Index i, Cost u,
                                             std::vector<CorePair>& found) const {
  find_violating(entries_, columns, i, u, *v_, found);
}

template <class T>
void RowPricer<DenseEntries<T>>::set_duals(const std::vector<Cost>& v) {
  v_ = &v;
  scaled_.clear();
  if (std::is_same_v<T, std::int64_t>) return;
  const int exponent = std::ilogb(entries_.scale);  // the scale is a power of two
  const bool exact = std::abs(exponent) < 900 && std::all_of(v.begin(), v.end(), [](Cost c) {
                       return c < kExactInDouble && c > -kExactInDouble;
                     });
  if (!exact) return;
  scaled_.resize(v.size());
  for (std::size_t j = 0; j < v.size(); ++j) scaled_[j] = std::ldexp(static_cast<double>(v[j]), -exponent);
}

/// A grid value is the nearest integer to c * scale, so that it lies below an integer only where c * scale
/// does: the scan finds all that violate, and the exact comparison drops what only rounds up.
template <class T>
void RowPricer<DenseEntries<T>>::find(Index i, Cost u, PricingScratch& scratch,
                                      std::vector<CorePair>& found) const {
  const std::vector<Cost>& v = *v_;
  if constexpr (!std::is_same_v<T, std::int64_t>) {
    if (!scaled_.empty() && entries_.col_stride == 1 && u < kExactInDouble && u > -kExactInDouble) {
      scratch.hit.resize(v.size());
      const double scaled_u = std::ldexp(static_cast<double>(u), -std::ilogb(entries_.scale));
      const Index hits = scan_below(best_instructions(), entries_.data + i * entries_.row_stride,
                                    entries_.cols, scaled_u, scaled_.data(), scratch.hit.data());
      for (Index k = 0; k < hits; ++k) {
        const Index j = scratch.hit[at(k)];
        const Cost c = entries_.at(i, j);
        if (c != kInfiniteCost && c < u + v[at(j)]) found.push_back({j, c});
      }
      return;
    }
  }
  entries_.for_each(i, 0, 1, [&](Index j, Cost c) {
    if (c < u + v[at(j)]) found.push_back({j, c});
  });
}

template class RowPricer<DenseEntries<std::int32_t>>;
template class RowPricer<DenseEntries<std::int64_t>>;
template class RowPricer<DenseEntries<float>>;
template class RowPricer<DenseEntries<double>>;

RowPricer<GeometricEntries>::RowPricer(const GeometricEntries& entries)
    : entries_(entries), grid_(entries.col_x, entries.col_y, entries.col_z, entries.cols, kPointsPerCell) {}

void RowPricer<GeometricEntries>::set_duals(const std::vector<Cost>& v) {
  v_ = &v;
  highest_ = *std::max_element(v.begin(), v.end());
  highest_in_.assign(at(grid_.cells()), -kBoundOfAll);
  for (Index c = 0; c < grid_.cells(); ++c)
    for (auto [p, end] = grid_.cell(c); p < end; ++p)
      highest_in_[at(c)] = std::max(highest_in_[at(c)], v[at(grid_.point_at(p))]);
}

void RowPricer<GeometricEntries>::find(Index i, Cost u, PricingScratch&, std::vector<CorePair>& found) const {
  Cost nearest_cost = -kBoundOfAll;  // of any pair in the cells still to come
  grid_.for_each_shell(
      row_place(entries_, i),
      [&](Index c) {
        if (nearest_cost >= u + highest_in_[at(c)]) return;
        for (auto [p, end] = grid_.cell(c); p < end; ++p) {
          const Index j = grid_.point_at(p);
          const Cost cost = entries_.at(i, j);
          if (cost != kInfiniteCost && cost < u + (*v_)[at(j)]) found.push_back({j, cost});
        }
      },
      [&](double outside) {
        const double distance = std::sqrt(outside);
        if (distance > entries_.gate) return false;
        nearest_cost =
            nearest(multiply(entries_.metric == Metric::squared ? outside : distance, entries_.scale));
        return nearest_cost < u + highest_;
      });
}

}  // namespace motes::matching::detail
