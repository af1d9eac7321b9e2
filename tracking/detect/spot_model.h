#pragma once
/// A Gaussian spot on a constant background.

#include <array>

#include "tracking/detect/blocks.h"

namespace motes::tracking::detect {

/// A spot's parameters as numbers to draw it from; places and widths in blocks.
struct SpotModel {
  double height = 0, background = 0;
  Place place{};
  std::array<double, 3> sigma{};
};

}  // namespace motes::tracking::detect
