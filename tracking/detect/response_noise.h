#pragma once
/// Spots that stand out of noise that is not white, by their response.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tracking/detect/choice.h"
#include "tracking/detect/response.h"

namespace motes::tracking::detect {

/// What the responses of maxima say.
struct ResponseSpots {
  std::vector<double> over;            ///< [maxima] response over the least one of spots at that place
  std::vector<unsigned char> is_spot;  ///< [maxima]
  std::size_t spots = 0, noise = 0;    ///< maxima that are spots, and maxima far from those
  double deviation = 0;                ///< of the response to noise: median over these
};

/// Which of all `maxima` [n] of a frame (in storage order) are spots. Those that score `least_score` or less,
/// or are not round, are none. None where what lies between the spots is not noise of one law (texture,
/// edges), and for fewer than 100 maxima. O(n log n).
///
/// Scores tell shape from noise that changes from voxel to voxel. Noise that was smoothed has shape of its
/// own, and a score says little there, but responses of noise follow one law whatever its colour: that of
/// the maxima of a Gaussian random field, or of a skewed one (maxima_law.h). Its scale is told from the
/// maxima between spots, place by place, and its skew from all of these.
std::optional<ResponseSpots> spots_by_response(const Filter& filter, std::span<const LikelySpot> maxima,
                                               double least_score);

}  // namespace motes::tracking::detect
