#pragma once
/// Two spots in one window.

#include <array>
#include <optional>

#include "tracking/detect/fit_window.h"

namespace motes::tracking::detect {

struct FittedPair {
  std::array<SpotModel, 2> spots;
  double cost = 0;  ///< sum of weighted squared residuals
  /// Standard error of each place with both spots free, over that with the other one known.
  std::array<Place, 2> error_factor{};
};

/// Fits two spots of `typical`'s widths on one background to a window by Levenberg-Marquardt, beginning on
/// either side of `typical.place` along the largest of `moments` (as shape_of gives them). None where the fit
/// fails: a height of the wrong sign, a place outside the window, or spots nearer than .8 or further than 4
/// widths. Weights are as the window has them. O(voxels of the window).
std::optional<FittedPair> fit_pair(const Window& window, const SpotModel& typical,
                                   const Eigen::Matrix3d& moments);

}  // namespace motes::tracking::detect
