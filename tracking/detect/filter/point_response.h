#pragma once
/// The normalised Laplacian of Gaussian at single places.

#include <array>

#include "tracking/detect/filter/blocks.h"

namespace motes::tracking::detect {

/// -sigma^2 times the Laplacian of the frame smoothed with `sigma`, at `place`, both in the source's blocks;
/// positive at bright spots. Axes of sigma 0 are not filtered. Beyond a face the frame is continued by its
/// last block. O(blocks in a window of 3.5 sigma to each side).
double response_at(const Source& source, const Place& place, const std::array<double, 3>& sigma);

}  // namespace motes::tracking::detect
