#pragma once
/// The variance of a frame's voxels as a linear function of their expected values.

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

/// Weighted sums for a line through the points (expected value, variance) of bins of samples.
struct NoiseSums {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  double least = std::numeric_limits<double>::infinity();  ///< least variance of a bin
  double level() const { return x / w; }
  double variance() const { return y / w; }
};

/// All 0 if there are too few samples. O(n log n).
NoiseSums noise_sums(std::vector<NoiseSample> samples);

/// The line from the sums; variance 1 if they are empty. Known camera values are kept: the gain is the slope,
/// and offset and read noise together give a point of the line.
Noise noise_line(const NoiseSums& sums, const CameraModel& camera = {});

/// Standard error of the slope if no camera value is known.
double slope_error(const NoiseSums& sums);

}  // namespace motes::tracking::detect
