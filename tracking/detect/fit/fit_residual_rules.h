#pragma once
/// Residuals of fits with equal weights, from which the noise is estimated. On the CPU and on the GPU.

#include <cstddef>

#include "tracking/detect/fit/fit_window_rules.h"

namespace motes::tracking::detect::rules {

/// The leverage of each voxel in a fit of height, background and place: the share of the voxel's noise that
/// the model follows, so that it is missing in the residual.
struct Leverage {
  float mean = 0;                                          ///< of the spot's profile
  float background = 0, height = 0, place[3] = {0, 0, 0};  ///< one over the squares of each column
};

MOTES_HOST_DEVICE inline Leverage leverage_of(const Window& w, const FitProfiles& g) {
  double voxels = 1, mean = 1, squares[3], slopes[3];
  for (std::size_t a = 0; a < 3; ++a) {
    double sum = 0;
    squares[a] = slopes[a] = 0;
    for (int i = 0; i < w.count[a]; ++i) {
      const double value = static_cast<double>(g[a].g[i]), slope = static_cast<double>(g[a].d1[i]);
      sum += value;
      squares[a] += value * value;
      slopes[a] += slope * slope;
    }
    voxels *= w.count[a];
    mean *= sum / w.count[a];
  }
  const auto inverse = [](double x) { return x > 0 ? static_cast<float>(1 / x) : 0.0F; };
  Leverage leverage;
  leverage.mean = static_cast<float>(mean);
  leverage.background = inverse(voxels);
  leverage.height = inverse(squares[0] * squares[1] * squares[2] - voxels * mean * mean);
  for (std::size_t a = 0; a < 3; ++a)
    leverage.place[a] = inverse(slopes[a] * squares[(a + 1) % 3] * squares[(a + 2) % 3]);
  return leverage;
}

/// The residual of the voxel (x, y, z) of a window; `light`: the sum of the neighbours' models there.
MOTES_HOST_DEVICE inline NoiseSample residual_of(const SpotModel& spot, const FitProfiles& g,
                                                 const Leverage& leverage, int x, int y, int z, float value,
                                                 float light) {
  constexpr float kMost = 0.8F;
  const float gx = g[0].g[x], gy = g[1].g[y], gz = g[2].g[z], height = gx * gy * gz;
  const float r = value - (static_cast<float>(spot.background) + static_cast<float>(spot.height) * height);
  const float slope[3] = {g[0].d1[x] * gy * gz, gx * g[1].d1[y] * gz, gx * gy * g[2].d1[z]};
  float share = leverage.background + (height - leverage.mean) * (height - leverage.mean) * leverage.height;
  for (int a = 0; a < 3; ++a) share += slope[a] * slope[a] * leverage.place[a];
  return {value - r + light, r * r / (1 - (share < kMost ? share : kMost))};
}

}  // namespace motes::tracking::detect::rules
