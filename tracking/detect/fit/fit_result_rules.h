#pragma once
/// The results of a finished fit, in voxels. On the CPU and on the GPU.

#include <cmath>
#include <cstddef>
#include <limits>

#include "tracking/detect/fit/fit_rules.h"

namespace motes::tracking::detect::rules {

MOTES_HOST_DEVICE inline void set_elongation(const FitSource& source, const FitState& s, double excess,
                                             FittedSpot& spot) {
  Matrix3 moments = s.shape.moments;
  for (std::size_t a = 0; a < 3; ++a) moments[a][a] += 1;
  const Vector3 values = axes_of(moments).values;
  double least = std::numeric_limits<double>::infinity(), most = 0.05;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(source.sigma[a] > 0)) continue;  // an axis of one voxel
    least = values[a] < least ? values[a] : least;
    most = values[a] > most ? values[a] : most;
  }
  spot.elongation = std::sqrt(most / (least > 0.05 ? least : 0.05));
  spot.elongated = spot.elongation > kElongated && s.shape.deviatoric > kElongatedGain * excess;
}

/// `block`: voxels per block along x, y, z.
MOTES_HOST_DEVICE inline FittedSpot result_of(const FitSource& source, const Index3& block, const FitState& s,
                                              double excess) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN(), kRootOfTwoPi = 2.5066282746310002;
  FittedSpot spot;
  spot.good = s.good && s.last_move <= kLastMove;
  const SpotModel model = model_of(source, spot.good ? s.p : s.start);
  spot.amplitude = model.height;
  spot.background = model.background;
  spot.split_gain = s.split_gain;
  spot.elongation = kUnknown;
  if (spot.good && all_finite(s.shape.moments)) set_elongation(source, s, excess, spot);
  spot.light = model.height;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto voxels = static_cast<double>(block[a]);
    if (source.sigma[a] > 0) spot.light *= kRootOfTwoPi * model.sigma[a] * voxels;
    spot.place[a] = (model.place[a] + 0.5) * voxels - 0.5;
    spot.sigma[a] = model.sigma[a] * voxels;
    spot.error[a] = !spot.good            ? kUnknown
                    : source.sigma[a] > 0 ? std::sqrt(s.variance[a]) * s.error_factor[a] * voxels
                                          : 0;
  }
  spot.light_error = spot.good ? std::abs(spot.light) * std::sqrt(s.light_variance) : kUnknown;
  return spot;
}

}  // namespace motes::tracking::detect::rules
