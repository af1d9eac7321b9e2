#pragma once
/// Sub-voxel position, height and width of a maximum.

#include "tracking/detect/fit/refine_rules.h"
#include "tracking/detect/maxima/maxima.h"

namespace motes::tracking::detect {

/// Fits a quadratic to the 27 responses around a maximum. O(1).
Peak refine(const Response& response, const Filter& filter, const Voxel& maximum);

/// The peak, corrected for the parabola's bias towards voxel centres. O(1), but slower than refine; for the
/// peaks that are kept.
Peak correct_bias(const Response& response, const Filter& filter, const Peak& peak);

/// Geometric mean, over the axes along which the peak has two neighbours, of the radius of a Gaussian spot
/// with the peak's width; NaN if there is no such axis. O(1).
double fitted_radius_um(const Response& response, const Filter& filter, const Vec3& voxel_um,
                        const Peak& peak);

}  // namespace motes::tracking::detect
