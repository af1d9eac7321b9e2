#pragma once
/// The nearest neighbours of every point of a set within the set.
///
/// Points that lie together are asked together: the set is halved along its longest side until a leaf holds
/// at most 16 points, all points near a leaf are put side by side once, and each of the leaf's points
/// measures its distance from them in plain loops. How far "near" is comes from the leaf before, and points
/// that find too few look farther; so the answer is exact, and does not depend on the leaves: equally far
/// points go by their number.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::tracking {

struct AllNearest {
  std::size_t count = 0;            ///< of neighbours: as many as asked for, or all points
  std::vector<std::int32_t> index;  ///< [points][count] nearest first, itself included
  std::vector<double> farthest;     ///< [points] squared distance of the last one
};

/// Coordinates must be finite, and their squares too. O(points log points).
AllNearest all_nearest(std::span<const Vec3> points, std::size_t count);

}  // namespace motes::tracking
