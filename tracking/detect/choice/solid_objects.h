#pragma once
/// Tells objects that touch from texture by the shapes of maxima and minima.

#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/maxima/maxima.h"

namespace motes::tracking::detect {

/// The deviation of the rank sum of `a` from its mean if both had one distribution, in standard deviations
/// (Mann & Whitney 1947). O(n log n).
double rank_sum_deviation(std::vector<double> a, std::vector<double> b);

/// Whether the maxima are objects with sharp borders on a darker ground (for dark ones: brighter). Convex
/// objects are rounder than the gaps between them, while maxima and minima of a Gaussian texture have the
/// same shapes. Objects with sharp borders respond less at other scales than the filter's, unlike lumps that
/// are peaked, such as speckle, and unlike objects that hold several spots. Uses at most 200 extrema of each
/// kind, in stacks 60. The same for any thread count. O(voxels + extrema used * voxels of a window).
bool are_solid_objects(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                       Polarity polarity, const std::vector<Voxel>& maxima, const std::vector<Voxel>& minima);

}  // namespace motes::tracking::detect
