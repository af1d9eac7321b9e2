#pragma once
/// Finds the rigid motion of a body by trying rotations about its principal axes.

#include <span>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::tracking {

/// Displacements [from] by the best motion: the shift from centroid to centroid, and a rotation about one of
/// the principal axes of `from` by up to 60 degrees in steps of 4. The best one has the least mean squared
/// distance to the nearest points of `to`, where distances are limited to 0.8 `spacing`. Empty if either set
/// has fewer than 20 points. O(rotations x points log points).
std::vector<Vec3> rigid_moves(std::span<const Vec3> from, std::span<const Vec3> to, double spacing);

}  // namespace motes::tracking
