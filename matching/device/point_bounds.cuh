#pragma once
/// The boxes of a problem's points, and what they say about its costs without a look at the pairs.

#include "matching/detail/entries.h"
#include "matching/device/arena.cuh"

namespace motes::matching::device {

/// The box of points on the device, and whether all are finite (below 1e300). An empty set has low > high.
struct PointBounds {
  double low[3], high[3];
  bool finite;
};
struct PairOfBounds {
  PointBounds row, col;
};
/// Of both sides, in one round trip. O(rows + cols).
PairOfBounds bounds_of(Arena& arena, const detail::GeometricEntries& entries);

/// A bound on the cost of any allowed pair, at most 3 times what the two farthest cost; kInfiniteCost where
/// it is beyond 2^62.
Cost farthest_cost(const detail::GeometricEntries& entries, const PairOfBounds& bounds);

}  // namespace motes::matching::device
