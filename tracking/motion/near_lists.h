#pragma once
/// Lists of the nearest neighbours of every point of a set within the set.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::tracking {

/// Length of each list, including the point itself.
inline constexpr std::size_t kListed = 32;

class NearLists {
 public:
  NearLists() = default;
  /// O(points log points) time, 4 x kListed bytes per point.
  explicit NearLists(std::span<const Vec3> points);

  /// The points nearest to a point of the set, nearest first, those at equal distance by index. The point
  /// itself is the first, unless others coincide with it. kListed points, or the whole set.
  std::span<const std::int32_t> of(std::size_t point) const {
    return std::span(index_).subspan(point * listed_, listed_);
  }
  /// Whether each list contains the whole set.
  bool complete() const { return complete_; }

 private:
  std::size_t listed_ = 0;
  bool complete_ = true;
  std::vector<std::int32_t> index_;  ///< [points][listed_]
};

}  // namespace motes::tracking
