#pragma once
/// The nearest neighbours of every point of a set within the same set, looked for once and used often.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::tracking {

/// So many are kept of each point, itself included.
inline constexpr std::size_t kListed = 32;

class NearLists {
 public:
  NearLists() = default;
  /// O(points log points) time, 4 x kListed bytes a point.
  explicit NearLists(std::span<const Vec3> points);

  /// The nearest points to a point of the set, itself first unless others share its place; nearest first,
  /// equally far ones by index. kListed of them, or all that there are.
  std::span<const std::int32_t> of(std::size_t point) const {
    return std::span(index_).subspan(point * listed_, listed_);
  }
  /// Whether the lists hold the whole set.
  bool complete() const { return complete_; }

 private:
  std::size_t listed_ = 0;
  bool complete_ = true;
  std::vector<std::int32_t> index_;  ///< [points][listed_]
};

}  // namespace motes::tracking
