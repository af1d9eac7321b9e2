#pragma once
/// Finds the nearest of some points, for many places and one small radius. Each cell of space lists the
/// points that are within the radius of any place in the cell, so a query reads one list.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::tracking {

class NearCells {
 public:
  /// O(points + cells). Makes no cells if there would be more than kMostCells, or if coordinates are so large
  /// relative to the radius that rounding matters.
  NearCells(std::span<const Vec3> points, double radius);

  bool known() const { return !offset_.empty(); }

  struct Found {
    Vec3 at;
    double squared = std::numeric_limits<double>::infinity();
  };

  /// The squared distance to the nearest point if that is within the radius; otherwise that to any point, or
  /// infinity.
  double squared(const Vec3& place) const {
    double least = std::numeric_limits<double>::infinity();
    for_each_near(place, [&](const Vec3&, double squared) { least = std::min(least, squared); });
    return least;
  }
  /// The same with the point itself; of equally near points the first in the list.
  Found nearest(const Vec3& place) const {
    Found out;
    for_each_near(place, [&](const Vec3& point, double squared) {
      if (squared < out.squared) out = {point, squared};
    });
    return out;
  }

  static constexpr double kMostCells = 0x1p20;

 private:
  /// Calls act(point, squared distance) for the points that the place's cell lists.
  template <class Act>
  void for_each_near(const Vec3& place, const Act& act) const {
    const double x = (place.x - low_.x) * per_width_, y = (place.y - low_.y) * per_width_,
                 z = (place.z - low_.z) * per_width_;
    if (!(x >= 0 && y >= 0 && z >= 0 && x < cells_.x && y < cells_.y && z < cells_.z)) return;
    const std::size_t cell = (static_cast<std::size_t>(z) * columns_ + static_cast<std::size_t>(y)) * row_ +
                             static_cast<std::size_t>(x);
    for (auto e = static_cast<std::size_t>(offset_[cell]); e < static_cast<std::size_t>(offset_[cell + 1]);
         ++e) {
      const double dx = near_[e].x - place.x, dy = near_[e].y - place.y, dz = near_[e].z - place.z;
      act(near_[e], dx * dx + dy * dy + dz * dz);
    }
  }
  template <class Act>
  void for_each_cell(const Vec3& point, double reach, const Act& act) const;

  Vec3 low_, cells_;  ///< corner; cells along each axis
  double per_width_ = 0;
  std::size_t columns_ = 0, row_ = 0;  ///< rows (along x) per layer, cells per row
  std::vector<std::int32_t> offset_;   ///< [cells + 1] into near_
  std::vector<Vec3> near_;             ///< points in order of cells
};

}  // namespace motes::tracking
