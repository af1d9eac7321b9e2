#pragma once
/// One spot of any elongation and direction in a window.

#include <optional>

#include "tracking/detect/fit_window.h"

namespace motes::tracking::detect {

/// Weighted squared residuals of a Gaussian with a covariance of its own, fitted by Levenberg-Marquardt from
/// `typical` with `moments` (as shape_of gives them) added to its covariance. O(voxels of the window).
double elongated_cost(const Window& window, const SpotModel& typical, const Eigen::Matrix3d& moments);

}  // namespace motes::tracking::detect
