#pragma once
/// The nearest neighbours of every point of a set within the set.
///
/// Points close together are processed together. The set is halved along its longest side until a leaf has at
/// most 16 points. All points near a leaf are gathered once, and each point of the leaf measures its distance
/// to them in plain loops. The leaf before gives the distance that counts as near; points that find too few
/// neighbours search farther. So the result is exact, and does not depend on the leaves: points at equal
/// distance are ordered by number.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::tracking {

struct AllNearest {
  std::size_t count = 0;            ///< number of neighbours: as asked for, or all points
  std::vector<std::int32_t> index;  ///< [points][count] nearest first, itself included
  std::vector<double> farthest;     ///< [points] squared distance of the last neighbour
};

/// The `count` nearest neighbours. Coordinates and their squares must be finite. O(points log points).
AllNearest all_nearest(std::span<const Vec3> points, std::size_t count);

}  // namespace motes::tracking
