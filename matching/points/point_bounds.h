#pragma once
/// The bounding boxes of a problem's points, and bounds of its costs that need no pass over the pairs.

#include "matching/assignment/canonical/entries.h"

namespace motes::matching::detail {

/// The bounding box of points; low > high if there are none.
struct PointBounds {
  double low[3], high[3];
  bool finite;  ///< whether all coordinates are finite and below 1e300
};
struct PairOfBounds {
  PointBounds row, col;
};

/// For points in host memory. O(rows + cols).
PairOfBounds bounds_of(const GeometricEntries& entries);

/// A bound on the cost of any allowed pair, at most 3 times the cost of the two farthest points;
/// kInfiniteCost if it exceeds 2^62.
Cost farthest_cost(const GeometricEntries& entries, const PairOfBounds& bounds);

}  // namespace motes::matching::detail
