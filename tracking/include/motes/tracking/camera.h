#pragma once
/// How a camera turns photons into grey levels, and how to estimate this from a frame's noise.

#include <cstdint>
#include <optional>

namespace motes::tracking {

/// The variance of a voxel of expected value v is gain * (v - offset) + read_noise^2. Values without content
/// are unknown.
struct CameraModel {
  std::optional<double> gain;        ///< grey levels per photon, greater than 0
  std::optional<double> offset;      ///< grey level without light, in grey levels
  std::optional<double> read_noise;  ///< standard deviation in grey levels, at least 0
};

/// Noise of the voxels around fitted spots: variance = base + slope * expected value.
struct VoxelNoise {
  double base = 0, slope = 0;
  double slope_error = 0;  ///< standard error of the slope; infinite if all expected values are the same
  double level = 0;        ///< mean expected value of the voxels
  double variance = 0;     ///< of the line at `level`
  std::int64_t spots = 0;  ///< fitted spots whose voxels were used
};

/// Photon transfer: `known`, completed from `noise`. The gain is the slope. The offset follows from the read
/// noise, or the read noise from the offset; if neither is known, the read noise is taken as 0, and the
/// offset is the level at which the line has no noise. O(1).
CameraModel camera_from_noise(const VoxelNoise& noise, CameraModel known);

}  // namespace motes::tracking
