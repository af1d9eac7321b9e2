#include "tracking/motion/near_cells.h"

#include <cmath>
#include <numeric>

namespace motes::tracking {
namespace {

/// Lists reach this much farther than the radius, to be safe from rounding.
constexpr double kListedFarther = 1 + 1e-6;
/// Up to this many radii from the origin, coordinates are exact to 1e-9 radii.
constexpr double kMostRadii = 1e6;

}  // namespace

NearCells::NearCells(std::span<const Vec3> points, double radius) {
  if (points.empty() || !(radius > 0)) return;
  Vec3 low = points.front(), high = low;
  for (const Vec3& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  double farthest = 0;
  for (const double c : {low.x, low.y, low.z, high.x, high.y, high.z})
    farthest = std::max(farthest, std::abs(c));
  if (!(farthest < kMostRadii * radius)) return;
  const double reach = kListedFarther * radius;
  per_width_ = 1 / radius;
  low_ = low - Vec3{reach, reach, reach};
  const auto along = [&](double from, double to) { return std::floor((to - from + reach) * per_width_) + 1; };
  cells_ = {along(low_.x, high.x), along(low_.y, high.y), along(low_.z, high.z)};
  if (!(cells_.x * cells_.y * cells_.z <= kMostCells)) return;
  columns_ = static_cast<std::size_t>(cells_.y), row_ = static_cast<std::size_t>(cells_.x);
  std::vector<std::int32_t> end(static_cast<std::size_t>(cells_.z) * columns_ * row_ + 1, 0);
  for (const Vec3& p : points) for_each_cell(p, reach, [&](std::size_t cell) { ++end[cell]; });
  std::exclusive_scan(end.begin(), end.end(), end.begin(), std::int32_t{0});
  near_.resize(static_cast<std::size_t>(end.back()));
  offset_ = end;
  for (const Vec3& p : points)
    for_each_cell(p, reach, [&](std::size_t cell) { near_[static_cast<std::size_t>(end[cell]++)] = p; });
}

/// Calls act for the cells that the ball around a point meets. `reach` is in cells.
template <class Act>
void NearCells::for_each_cell(const Vec3& point, double reach, const Act& act) const {
  const double x = (point.x - low_.x) * per_width_, y = (point.y - low_.y) * per_width_,
               z = (point.z - low_.z) * per_width_, r = reach * per_width_;
  const auto first = [](double from) { return std::max(0.0, std::floor(from)); };
  const auto last = [](double to, double cells) { return std::min(cells - 1, std::floor(to)); };
  const auto off = [](double cell, double at) { return std::max({0.0, cell - at, at - (cell + 1)}); };
  for (double k = first(z - r); k <= last(z + r, cells_.z); ++k)
    for (double j = first(y - r); j <= last(y + r, cells_.y); ++j)
      for (double i = first(x - r); i <= last(x + r, cells_.x); ++i) {
        const double dz = off(k, z), dy = off(j, y), dx = off(i, x);
        if (dx * dx + dy * dy + dz * dz > r * r) continue;
        act((static_cast<std::size_t>(k) * columns_ + static_cast<std::size_t>(j)) * row_ +
            static_cast<std::size_t>(i));
      }
}

}  // namespace motes::tracking
