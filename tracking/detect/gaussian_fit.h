#pragma once
/// Positions, widths and their standard errors by fitting Gaussian spots to the voxels.

#include <array>
#include <span>
#include <vector>

#include "tracking/detect/blocks.h"
#include "tracking/detect/fit_noise.h"

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
  double elongation = 1;   ///< longest over shortest width, against the typical spot's; NaN where not good
  bool elongated = false;  ///< over 1.3, beyond chance
  double light = 0;        ///< sum over the spot's voxels, above background
  double light_error = 0;  ///< its standard error, neighbours and shape known; NaN where not good
  double split_gain = 0;   ///< of a pair: signed root of the likelihood ratio of two spots to one
  bool good = false;  ///< false: the fit left its window or did not settle; only `place` holds, the start
};

struct FitOptions {
  double width_spread = 0.3;  ///< standard deviation of the prior of ln(width / filter sigma)
  bool split = false;         ///< spots that two typical spots explain far better than one become two
  bool leverage = true;       ///< residuals are made up for what the fit takes of the noise
  CameraModel camera;         ///< of blocks; what is not known is told from the residuals
};

struct FittedSpots {
  std::vector<FittedSpot> spots;
  NoiseSums noise;  ///< of the residuals, in blocks
};

/// Fits every start by weighted least squares within 2.5 sigma: a Gaussian (place, height, one width in x and
/// y and one in z) on a constant background. Spots whose windows overlap are fitted together, by sweeps. The
/// noise's variance, as a line over the expected value, is told from the residuals of the first sweep, unless
/// the camera is known. Element i is that of start i; those beyond are second spots split off, good ones
/// only. The same for any thread count. O(n * voxels of a window).
FittedSpots fit_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                      std::span<const FitStart> starts, const FitOptions& options = {});

}  // namespace motes::tracking::detect
