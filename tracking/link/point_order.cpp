#include "tracking/link/point_order.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

namespace motes::tracking::detail {
namespace {

using matching::Index;

/// Compares two values: -1, 0 or 1; unknown ones are first.
int compare(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return static_cast<int>(std::isnan(b)) - static_cast<int>(std::isnan(a));
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

constexpr int kMostBits = 10;
constexpr std::ptrdiff_t kOfCell = 128;

/// The number, along a Z-order curve, of the cell that holds p; 2^bits cells along each axis.
std::uint32_t cell_of(const Vec3& p, const Vec3& low, double side, int bits) {
  const double cells = static_cast<double>(1 << bits);
  std::uint32_t out = 0;
  int axis = 0;
  for (const double off : {p.x - low.x, p.y - low.y, p.z - low.z}) {
    const auto place = static_cast<std::uint32_t>(std::min(off / side * cells, cells - 1));
    for (int bit = 0; bit < bits; ++bit) out |= (place >> bit & 1U) << (3 * bit + axis);
    ++axis;
  }
  return out;
}

}  // namespace

std::vector<Index> position_order(const SeriesPoints& points) {
  std::vector<Index> order(points.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto before = [&](Index a, Index b) {
    const Vec3 &p = points.at[at(a)], &q = points.at[at(b)];
    if (const auto left = std::tie(points.hash[at(a)], p.x, p.y, p.z),
        right = std::tie(points.hash[at(b)], q.x, q.y, q.z);
        left != right)
      return left < right;
    for (const PropertyColumn& column : points.properties)
      if (const int side = compare(column.values[at(a)], column.values[at(b)]); side != 0) return side < 0;
    return a < b;
  };
  for (std::int32_t t = 0; t < points.frames(); ++t)
    std::sort(order.begin() + points.offset[at(t)], order.begin() + points.offset[at(t) + 1], before);
  return order;
}

std::vector<Index> cell_order(const Execution& execution, const SeriesPoints& points,
                              std::span<const Index> order) {
  std::vector<Index> out(order.begin(), order.end());
  if (order.empty()) return out;
  Vec3 low = points.at.front(), high = low;
  for (const Vec3& p : points.at) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const double side = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
  parallel_for(thread_count(execution), points.frames(), [&](std::int64_t t) {
    const auto begin = out.begin() + points.offset[at(t)], end = out.begin() + points.offset[at(t) + 1];
    int bits = 0;
    while (bits < kMostBits && (end - begin) >> (points.dims * (bits + 1)) >= kOfCell) ++bits;
    if (bits == 0 || !(side > 0)) return;
    std::vector<std::pair<std::uint32_t, Index>> keyed;
    for (auto one = begin; one != end; ++one)
      keyed.emplace_back(cell_of(points.at[at(*one)], low, side, bits), *one);
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(keyed.begin(), keyed.end(), begin, [](const auto& one) { return one.second; });
  });
  return out;
}

std::vector<Index> places_in(std::span<const Index> order, std::size_t points) {
  std::vector<Index> out(points, -1);
  for (std::size_t k = 0; k < order.size(); ++k) out[at(order[k])] = static_cast<Index>(k);
  return out;
}

SeriesPoints select_points(const SeriesPoints& points, std::span<const Index> order) {
  SeriesPoints out;
  out.dims = points.dims;
  out.rounded_um = points.rounded_um;
  out.spacing_um = points.spacing_um;
  out.offset.assign(points.offset.size(), 0);
  out.at.reserve(order.size()), out.slot.reserve(order.size()), out.hash.reserve(order.size());
  for (const PropertyColumn& column : points.properties) out.properties.push_back({column.name, {}});
  for (const Index i : order) {
    out.at.push_back(points.at[at(i)]);
    out.slot.push_back(points.slot[at(i)]);
    out.hash.push_back(points.hash[at(i)]);
    ++out.offset[at(points.slot[at(i)]) + 1];
    if (!points.crowding.empty()) out.crowding.push_back(points.crowding[at(i)]);
    if (!points.log_odds.empty()) out.log_odds.push_back(points.log_odds[at(i)]);
    for (std::size_t k = 0; k < points.properties.size(); ++k)
      out.properties[k].values.push_back(points.properties[k].values[at(i)]);
  }
  std::partial_sum(out.offset.begin(), out.offset.end(), out.offset.begin());
  return out;
}

Prediction select_prediction(const Prediction& prediction, std::span<const Index> order) {
  Prediction out;
  for (const std::vector<Vec3>& all : prediction.by_lag) {
    std::vector<Vec3>& some = out.by_lag.emplace_back();
    some.reserve(order.size());
    for (const Index i : order) some.push_back(all[at(i)]);
  }
  return out;
}

SeriesLinking select_links(const SeriesLinking& linking, std::span<const Index> order,
                           std::span<const Index> place) {
  SeriesLinking out = SeriesLinking::none(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Index next = linking.next[at(order[k])];
    if (next < 0 || place[at(next)] < 0) continue;
    out.next[k] = place[at(next)];
    out.previous[at(out.next[k])] = static_cast<Index>(k);
  }
  return out;
}

}  // namespace motes::tracking::detail
