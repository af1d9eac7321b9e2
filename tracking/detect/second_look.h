#pragma once
/// Spots near the noise, judged again in a wider box.

#include <optional>
#include <span>
#include <vector>

#include "tracking/detect/evidence.h"

namespace motes::tracking::detect {

/// Extrema of a frame with the evidence for each.
struct Judged {
  std::span<const Voxel> voxels;       ///< [n]
  std::span<const Evidence> evidence;  ///< [n]
};

/// What the first look at the maxima said.
struct FirstLook {
  std::span<const unsigned char> taken;  ///< [maxima] 1: a spot
  double noise_stretch = 1;              ///< how much wider its noise is than white noise
};

/// Which of `maxima` are spots, 1 or 0 for each [n]; none where the second look does not apply.
///
/// In a box of 2.2 sigma a constant and a slope take up nearly half of the spot's sum of squares. A box of 4
/// sigma leaves nine tenths of it, but neighbours and uneven backgrounds disturb it. So it is used where
/// spots are few or come near the noise, are sparse, and the noise is white, and its answer holds if it has
/// more spots. Roundness counts by its fourth root. The same for any thread count. O(n + m voxels of a box),
/// m the extrema that score over 2.5 at the first look.
std::optional<std::vector<unsigned char>> second_look(const Execution& execution, const VolumeFrame& frame,
                                                      const Filter& filter, const Response& response,
                                                      Polarity polarity, const Judged& maxima,
                                                      const Judged& minima, const FirstLook& first);

}  // namespace motes::tracking::detect
