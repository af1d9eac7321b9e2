#pragma once
/// What lies near spots, in widths of the filter.

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "tracking/detect/maxima.h"
#include "tracking/detect/response.h"
#include "tracking/motion/near_points.h"

namespace motes::tracking::detect {

class SpotsNearby {
 public:
  /// O(n log n).
  SpotsNearby(const Filter& filter, const std::vector<Voxel>& spots) : sigma_(filter.sigma) {
    for (const Voxel& v : spots) points_.push_back(scaled(v));
    if (!points_.empty()) tree_ = std::make_unique<NearPoints>(points_);
  }

  /// Whether one of the eight spots nearest to `v`, and within `reach` widths of it, is `like`d: called with
  /// its index. O(log n).
  template <class Like>
  bool any_within(const Voxel& v, double reach, const Like& like) const {
    if (!tree_) return false;
    std::array<std::size_t, 8> index{};
    std::array<double, 8> squared{};
    const std::size_t n = tree_->nearest(scaled(v), index.size(), index.data(), squared.data());
    for (std::size_t i = 0; i < n && squared[i] < reach * reach; ++i)
      if (like(index[i])) return true;
    return false;
  }

 private:
  Vec3 scaled(const Voxel& v) const {
    const auto along = [&](std::int64_t at, std::size_t axis) {
      return sigma_[axis] > 0 ? static_cast<double>(at) / sigma_[axis] : 0;
    };
    return {along(v.x, 0), along(v.y, 1), along(v.z, 2)};
  }

  std::array<double, 3> sigma_{};
  std::vector<Vec3> points_;
  std::unique_ptr<NearPoints> tree_;
};

}  // namespace motes::tracking::detect
