#pragma once
/// The noise of a frame's voxels as a line over what is expected of them.

#include <vector>

namespace motes::tracking::detect {

struct Noise {
  double base = 1, slope = 0;  ///< variance = base + slope * expected value
  double least = 1;            ///< the variance is at least this
};

/// A voxel's expected value and its squared residual.
struct NoiseSample {
  float expected, square;
};

/// Robust line through the squares; variance 1 where there are too few. O(n log n).
Noise noise_line(std::vector<NoiseSample> samples);

}  // namespace motes::tracking::detect
