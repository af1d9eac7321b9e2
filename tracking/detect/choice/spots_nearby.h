#pragma once
/// Finds the spots near a voxel. Distances are in units of the filter's sigma.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tracking/detect/filter/response.h"
#include "tracking/detect/maxima/maxima.h"
#include "tracking/motion/near_points.h"

namespace motes::tracking::detect {

/// Spots in cells as wide as the reach. If eight or more are within reach, a k-d tree finds the nearest. It
/// is built only when first needed, since few frames are so crowded and building it takes longer than all
/// else.
class SpotsNearby {
 public:
  /// `reach`: in sigmas. O(n).
  SpotsNearby(const Filter& filter, const std::vector<Voxel>& spots, double reach)
      : sigma_(filter.sigma), reach_(reach) {
    points_.reserve(spots.size());
    for (const Voxel& v : spots) points_.push_back(scaled(v));
    if (!points_.empty()) fill_cells();
  }

  /// Whether like(index) holds for one of the eight spots nearest to `v` and within reach. Several threads
  /// may call it at once. O(1) on average, O(log n) in crowds.
  template <class Like>
  bool any_within(const Voxel& v, const Like& like) const {
    if (points_.empty()) return false;
    const Vec3 p = scaled(v);
    std::array<std::size_t, kNearest> index{};
    std::array<double, kNearest> squared{};
    const std::size_t within = find_within(p, index);
    if (within < kNearest)
      return std::any_of(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(within), like);
    const std::size_t n = tree().nearest(p, kNearest, index.data(), squared.data());
    for (std::size_t i = 0; i < n && squared[i] < reach_ * reach_; ++i)
      if (like(index[i])) return true;
    return false;
  }

 private:
  static constexpr std::size_t kNearest = 8;

  Vec3 scaled(const Voxel& v) const {
    const auto along = [&](std::int64_t at, std::size_t axis) {
      return sigma_[axis] > 0 ? static_cast<double>(at) / sigma_[axis] : 0;
    };
    return {along(v.x, 0), along(v.y, 1), along(v.z, 2)};
  }
  static std::array<double, 3> axes(const Vec3& p) { return {p.x, p.y, p.z}; }

  void fill_cells() {
    low_ = axes(points_.front());
    std::array<double, 3> high = low_;
    for (const Vec3& p : points_)
      for (std::size_t a = 0; a < 3; ++a) {
        low_[a] = std::min(low_[a], axes(p)[a]);
        high[a] = std::max(high[a], axes(p)[a]);
      }
    const auto count = [&] {
      double cells = 1;
      for (std::size_t a = 0; a < 3; ++a) cells *= (high[a] - low_[a]) / width_ + 1;
      return cells;
    };
    const double most = 1000 + 4 * static_cast<double>(points_.size());
    // Cells are a little wider than the reach, so that rounding cannot put a spot within reach two cells
    // away.
    for (width_ = reach_ * 1.001; count() > most; width_ *= 1.3) {
    }
    per_width_ = 1 / width_;
    for (std::size_t a = 0; a < 3; ++a)
      cells_[a] = static_cast<std::int64_t>((high[a] - low_[a]) / width_) + 1;
    begin_.assign(static_cast<std::size_t>(cells_[0] * cells_[1] * cells_[2]) + 1, 0);
    for (const Vec3& p : points_) ++begin_[cell_of(p) + 1];
    for (std::size_t c = 1; c < begin_.size(); ++c) begin_[c] += begin_[c - 1];
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    spots_.resize(points_.size());
    for (std::size_t i = 0; i < points_.size(); ++i)
      spots_[next[cell_of(points_[i])]++] = static_cast<std::uint32_t>(i);
  }
  std::int64_t along(double at, std::size_t axis) const {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>((at - low_[axis]) * per_width_), 0,
                                    cells_[axis] - 1);
  }
  std::size_t cell_of(const Vec3& p) const {
    return static_cast<std::size_t>((along(p.z, 2) * cells_[1] + along(p.y, 1)) * cells_[0] + along(p.x, 0));
  }

  /// The number of spots within reach, at most kNearest, and their indices.
  std::size_t find_within(const Vec3& p, std::array<std::size_t, kNearest>& index) const {
    const std::array<double, 3> at = axes(p);
    std::array<std::int64_t, 3> first{}, last{};
    for (std::size_t a = 0; a < 3; ++a) {
      first[a] = along(at[a] - width_, a);
      last[a] = along(at[a] + width_, a);
    }
    std::size_t found = 0;
    for (std::int64_t z = first[2]; z <= last[2]; ++z)
      for (std::int64_t y = first[1]; y <= last[1]; ++y) {
        const auto row = static_cast<std::size_t>((z * cells_[1] + y) * cells_[0]);
        const std::size_t end = begin_[row + static_cast<std::size_t>(last[0]) + 1];
        for (std::size_t k = begin_[row + static_cast<std::size_t>(first[0])]; k < end; ++k) {
          const Vec3& q = points_[spots_[k]];
          const double x = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
          if (!(x * x + dy * dy + dz * dz < reach_ * reach_)) continue;
          index[found++] = spots_[k];
          if (found == kNearest) return found;
        }
      }
    return found;
  }

  const NearPoints& tree() const {
    std::call_once(made_, [&] { tree_ = std::make_unique<NearPoints>(points_); });
    return *tree_;
  }

  std::array<double, 3> sigma_{}, low_{};
  double reach_, width_ = 1, per_width_ = 1;
  std::array<std::int64_t, 3> cells_{};
  std::vector<std::uint32_t> begin_, spots_;  ///< [cells + 1]; [spots] in order of cells
  std::vector<Vec3> points_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<NearPoints> tree_;
};

}  // namespace motes::tracking::detect
