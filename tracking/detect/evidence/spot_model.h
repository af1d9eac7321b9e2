#pragma once
/// A Gaussian spot on a constant background.

#include <array>

#include "tracking/detect/filter/blocks.h"

namespace motes::tracking::detect {

/// The parameters that determine a spot's values; places and widths in blocks.
struct SpotModel {
  double height = 0, background = 0;
  Place place{};
  std::array<double, 3> sigma{};
};

}  // namespace motes::tracking::detect
