#pragma once
/// The Delaunay triangulation of points with whole coordinates, exact.

#include <array>
#include <cstdint>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching::instances {

using PlanePoint = std::array<std::int64_t, 2>;

/// Coordinates must lie in [0, 2^28), so that the predicates below fit in 128 bits.
inline constexpr int kPlaneBits = 28;

struct Triangle {
  std::array<Index, 3> corner;     ///< counter-clockwise
  std::array<Index, 3> neighbour;  ///< across the side opposite each corner; -1: outside
};

/// Triangles whose circumcircles hold no point inside; where four points lie on a circle, one of the two
/// choices, by the order of the points alone. A point that equals an earlier one is in no triangle; there are
/// no triangles where all points lie on a line. About O(points) where points that follow each other are close
/// (on a space-filling curve). Incremental insertion with flips (Lawson 1977).
std::vector<Triangle> delaunay_triangles(const std::vector<PlanePoint>& points);

/// Position along a Hilbert curve of 16 levels.
std::uint32_t hilbert_position(const PlanePoint& point);

}  // namespace motes::matching::instances
