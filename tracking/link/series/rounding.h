#pragma once
/// Positions that are rounded to a grid, such as whole pixels. If most particles move less than a step, most
/// displacements are 0, and a density that is fitted to them says that longer ones are impossible. So for
/// fits, displacements are spread evenly over a cell of the grid.

#include <span>

#include <motes/matching/problem.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// The step of the grid on which the positions lie, along each axis along which they differ (the smallest
/// step of these axes), else 0; all 0 if they lie on a grid along some of these axes only. Seen from at most
/// some 8,000 points. O(1).
Vec3 rounding_steps(std::span<const Vec3> points);

/// Whether the positions lie on a grid whose step matters beside the spacing, but is below half of it.
bool is_rounded(const SeriesPoints& points);

/// The displacement `d` from i to j, spread over a cell of the grid of `points`: changed along each axis by
/// up to half a step, always by the same for the same i and j. Unless is_rounded(points), `d` itself.
Vec3 spread(const SeriesPoints& points, const Vec3& d, matching::Index i, matching::Index j);

/// The place on the grid of `points` that is nearest to `p`; unless is_rounded(points), `p` itself.
Vec3 to_grid(const SeriesPoints& points, const Vec3& p);

}  // namespace motes::tracking
