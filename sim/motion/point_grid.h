#pragma once
/// Neighbours of points within a fixed reach.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::sim::detail {

/// Points sorted into cells no smaller than `reach`, by index within a cell, so that only the 27 cells around
/// a point can have a neighbour. At most about eight cells per point, also for a small reach.
class PointGrid {
 public:
  PointGrid(const std::vector<Vec3>& points, double reach) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    Vec3 low{kFar, kFar, kFar}, high{-kFar, -kFar, -kFar};
    for (const Vec3& p : points) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    low_ = low;
    const double most = 2 * std::ceil(std::cbrt(static_cast<double>(points.size())));
    const double cell = reach * (1 + 1e-9);
    const auto count = [&](double length) {
      return static_cast<std::int64_t>(std::clamp(std::floor(length / cell), 1.0, most));
    };
    nx_ = count(high.x - low.x);
    ny_ = count(high.y - low.y);
    nz_ = count(high.z - low.z);
    const auto per_um = [](double length, std::int64_t cells) {
      return length > 0 ? static_cast<double>(cells) / length : 0.0;
    };
    per_um_ = {per_um(high.x - low.x, nx_), per_um(high.y - low.y, ny_), per_um(high.z - low.z, nz_)};
    sort(points);
  }

  /// Calls visit(index) for every point in the cells around `p`.
  template <class Visit>
  void around(const Vec3& p, const Visit& visit) const {
    const std::int64_t x = along(p.x, low_.x, per_um_.x, nx_), y = along(p.y, low_.y, per_um_.y, ny_),
                       z = along(p.z, low_.z, per_um_.z, nz_);
    for (std::int64_t k = std::max<std::int64_t>(z - 1, 0); k <= std::min(z + 1, nz_ - 1); ++k)
      for (std::int64_t j = std::max<std::int64_t>(y - 1, 0); j <= std::min(y + 1, ny_ - 1); ++j)
        for (std::int64_t i = std::max<std::int64_t>(x - 1, 0); i <= std::min(x + 1, nx_ - 1); ++i) {
          const auto cell = static_cast<std::size_t>((k * ny_ + j) * nx_ + i);
          for (std::size_t n = start_[cell]; n < start_[cell + 1]; ++n) visit(order_[n]);
        }
  }

 private:
  static std::int64_t along(double at, double low, double per_um, std::int64_t cells) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>((at - low) * per_um), 0, cells - 1);
  }
  std::size_t cell_of(const Vec3& p) const {
    return static_cast<std::size_t>(
        (along(p.z, low_.z, per_um_.z, nz_) * ny_ + along(p.y, low_.y, per_um_.y, ny_)) * nx_ +
        along(p.x, low_.x, per_um_.x, nx_));
  }
  void sort(const std::vector<Vec3>& points) {
    start_.assign(static_cast<std::size_t>(nx_ * ny_ * nz_) + 1, 0);
    for (const Vec3& p : points) ++start_[cell_of(p) + 1];
    for (std::size_t c = 1; c < start_.size(); ++c) start_[c] += start_[c - 1];
    order_.resize(points.size());
    std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
    for (std::size_t i = 0; i < points.size(); ++i) order_[next[cell_of(points[i])]++] = i;
  }

  Vec3 low_, per_um_;
  std::int64_t nx_ = 1, ny_ = 1, nz_ = 1;
  std::vector<std::size_t> start_, order_;
};

}  // namespace motes::sim::detail
