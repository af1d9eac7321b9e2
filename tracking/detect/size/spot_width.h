#pragma once
/// Widths of spots, and filters of that width.

#include <array>
#include <optional>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/volume_frame.h>

#include "tracking/detect/filter/response.h"
#include "tracking/detect/fit/gaussian_fit.h"

namespace motes::tracking::detect {

using Sigma = std::array<double, 3>;  ///< um; x, y, z

inline constexpr double kLeastSigma = 0.35;  ///< in voxels, along any axis
inline constexpr double kResolved = 2;       ///< sigma in voxels from which on spots may be resolved
inline constexpr double kWidthSpread = 0.7;  ///< standard deviation of the fits' prior of ln sigma

/// The radius at which spots of this sigma respond most (log_detector.h).
Vec3 radius_of(const VolumeFrame& frame, const Sigma& sigma);

Filter filter_of(const VolumeFrame& frame, const Sigma& sigma);

/// Median widths of Gaussians fitted from these starts and this sigma; none if over two thirds of the fits
/// fail. For spots with a flat top, the scale of the largest response. O(starts) windows.
std::optional<Sigma> fitted_sigma(const Execution& execution, const VolumeFrame& frame,
                                  std::vector<FitStart> starts, Sigma sigma);

}  // namespace motes::tracking::detect
