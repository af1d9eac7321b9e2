#pragma once
/// How a camera makes grey levels of photons, and what a frame's noise tells of it.

#include <cstdint>
#include <optional>

namespace motes::tracking {

/// Variance of a voxel of expected value v: gain * (v - offset) + read_noise^2. None: unknown.
struct CameraModel {
  std::optional<double> gain;        ///< grey levels a photon, over 0
  std::optional<double> offset;      ///< grey level without light
  std::optional<double> read_noise;  ///< standard deviation in grey levels, at least 0
};

/// Noise of the voxels around fitted spots: variance = base + slope * expected value.
struct VoxelNoise {
  double base = 0, slope = 0;
  double slope_error = 0;  ///< standard error of the slope; infinite where all voxels are alike
  double level = 0;        ///< mean expected value of the voxels
  double variance = 0;     ///< the line's value there
  std::int64_t spots = 0;  ///< that were fitted
};

/// Photon transfer: what `noise` tells of what `known` lacks. The slope is the gain. The offset follows from
/// the read noise, or the read noise from the offset; if neither is known, the read noise is taken as 0, and
/// the offset is the level at which the line has no noise.
CameraModel camera_from_noise(const VoxelNoise& noise, CameraModel known);

}  // namespace motes::tracking
