#pragma once
/// The motion of a body as a whole: turns about its principal axes, tried one by one.

#include <span>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::tracking {

/// Displacements [from] of the best turn of `from`, about one of its principal axes through its centroid, by
/// up to 60 degrees in steps of 4, and the shift from centroid to centroid: the one with the least mean
/// squared distance to the nearest of `to`, where distances over 0.8 `spacing` count as that. Empty where
/// either has fewer than 20 points. O(turns x points log points).
std::vector<Vec3> rigid_moves(std::span<const Vec3> from, std::span<const Vec3> to, double spacing);

}  // namespace motes::tracking
