#pragma once
/// Positions, widths and their standard errors by fitting Gaussian spots to the voxels.

#include <array>
#include <span>
#include <vector>

#include "tracking/detect/blocks.h"

namespace motes::tracking::detect {

/// Where to begin: voxels, and the height above background.
struct FitStart {
  Place place{};
  double amplitude = 0;  ///< negative for dark spots
};

struct FittedSpot {
  Place place{};         ///< voxels
  double amplitude = 0;  ///< height above background
  double background = 0;
  std::array<double, 3> sigma{};  ///< voxels; 0 along axes of one voxel
  Place error{};                  ///< standard errors of the place, voxels; 0 along axes of one voxel
  bool good = false;  ///< false: the fit left its window or did not settle; only `place` holds, the start
};

struct FitOptions {
  double width_spread = 0.3;  ///< standard deviation of the prior of ln(width / filter sigma)
};

/// Fits every start by weighted least squares within 2.5 sigma: a Gaussian (place, height, one width in x and
/// y and one in z) on a constant background. Spots whose windows overlap are fitted together, by sweeps. The
/// noise's variance, as a line over the expected value, is told from the residuals of the first sweep. The
/// same for any thread count. O(n * voxels of a window).
std::vector<FittedSpot> fit_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                                  std::span<const FitStart> starts, const FitOptions& options = {});

}  // namespace motes::tracking::detect
