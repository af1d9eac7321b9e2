#pragma once
/// Positions, widths and their standard errors by fitting Gaussian spots to the voxels.

#include <array>
#include <span>
#include <vector>

#include "tracking/detect/filter/blocks.h"
#include "tracking/detect/fit/fit_noise.h"

namespace motes::tracking::detect {

/// The start of a fit: a place in voxels, and the height above background.
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
  double elongation = 1;   ///< longest over shortest width, relative to the typical spot; NaN if not good
  bool elongated = false;  ///< significantly over 1.3
  double light = 0;        ///< sum over the spot's voxels, above background
  double light_error = 0;  ///< its standard error for known neighbours and shape; NaN if not good
  double split_gain = 0;   ///< of a pair: signed root of twice the log-likelihood ratio of two spots to one
  /// False: the fit left its window or did not settle; only `place` is valid and is the start.
  bool good = false;
};

struct FitOptions {
  double width_spread = 0.3;  ///< standard deviation of the prior of ln(width / filter sigma)
  bool split = false;         ///< split spots that two typical spots explain far better than one
  bool leverage = true;       ///< correct residuals for the noise that the fit follows
  CameraModel camera;         ///< of blocks; unknown values are estimated from the residuals
};

struct FittedSpots {
  std::vector<FittedSpot> spots;
  NoiseSums noise;  ///< of the residuals, in blocks
};

/// Fits every start by weighted least squares within 2.5 sigma: a Gaussian (place, height, one width in x and
/// y and one in z) on a constant background. Spots whose windows overlap are fitted together, by sweeps. The
/// variance of the noise, as a line over the expected value, is estimated from the residuals of the first
/// sweep, unless the camera is known. Result i belongs to start i; further results are second spots of pairs,
/// well-fitted ones only. The same for any thread count. O(n * voxels of a window).
FittedSpots fit_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                      std::span<const FitStart> starts, const FitOptions& options = {});

}  // namespace motes::tracking::detect
