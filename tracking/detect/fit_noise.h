#pragma once
/// The noise of a frame's voxels as a line over what is expected of them.

#include <limits>
#include <vector>

#include <motes/tracking/camera.h>

namespace motes::tracking::detect {

struct Noise {
  double base = 1, slope = 0;  ///< variance = base + slope * expected value
  double least = 1;            ///< the variance is at least this
};

/// A voxel's expected value and its squared residual.
struct NoiseSample {
  float expected, square;
};

/// Weighted sums of a line through (expected value, variance) of bins of samples.
struct NoiseSums {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  double least = std::numeric_limits<double>::infinity();  ///< of the bins' variances
  double level() const { return x / w; }
  double variance() const { return y / w; }
};

/// All 0 where there are too few samples. O(n log n).
NoiseSums noise_sums(std::vector<NoiseSample> samples);

/// Robust line through the sums; variance 1 where there are none. What is known of the camera holds: the gain
/// is the slope, offset and read noise together a point of the line.
Noise noise_line(const NoiseSums& sums, const CameraModel& camera = {});

/// Standard error of the slope of a line with nothing known.
double slope_error(const NoiseSums& sums);

}  // namespace motes::tracking::detect
