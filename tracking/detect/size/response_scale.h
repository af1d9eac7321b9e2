#pragma once
/// The scale at which spots respond most, which distinguishes flat-topped spots (nuclei, beads) from Gaussian
/// ones.

#include <span>

#include "tracking/detect/filter/blocks.h"
#include "tracking/detect/fit/gaussian_fit.h"

namespace motes::tracking::detect {

/// The scale at which the normalised Laplacian of Gaussian at these spots is largest, in their fitted widths:
/// the median over the first 60 well-fitted spots that have a maximum; 0 if too few have one. In d dimensions
/// a Gaussian gives sqrt(2 / d), a ball 1.29, a disk 1.41: a ball of radius R responds most at R / sqrt(d),
/// while its width is R / sqrt(d + 2). `filter` has the typical width. The same for any thread count. O(spots
/// * voxels of a window).
double response_scale(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                      std::span<const FittedSpot> spots);

}  // namespace motes::tracking::detect
