#pragma once
/// How well the spots of a scale stand out.

#include <algorithm>
#include <cmath>
#include <vector>

#include "tracking/detect/choice/choice.h"

namespace motes::tracking::detect {

/// The sum over `spots` of their weights, times the cube root of `scale`, sigma in voxels; 0 if they hardly
/// stand out, since noise has nine chances in nine scales.
inline double sum_of_evidence(const std::vector<ChosenSpot>& spots, double scale) {
  constexpr double kWellOver = 3;       // from this ratio to the level on, a spot has full weight
  constexpr double kLeastClear = 0.05;  // least sum: that of one spot at 1.3 times the level
  double clear = 0, sum = 0;
  for (const ChosenSpot& spot : spots) {
    const double over = std::min(1.0, std::log(std::max(1.0, spot.over)) / std::log(kWellOver));
    clear += over * over;
    sum += over * over * std::sqrt(std::max(0.0, spot.amplitude));
  }
  return clear > kLeastClear ? sum * std::cbrt(scale) : 0;
}

}  // namespace motes::tracking::detect
