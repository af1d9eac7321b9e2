#pragma once
/// Finds spots in noise that is not white, by their response.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/filter/response.h"

namespace motes::tracking::detect {

/// The result for all maxima of a frame.
struct ResponseSpots {
  std::vector<double> over;  ///< [maxima] ratio of the response to the lowest response of spots at that place
  std::vector<unsigned char> is_spot;  ///< [maxima]
  std::size_t spots = 0, noise = 0;    ///< number of maxima that are spots, and of maxima far from spots
  double deviation = 0;  ///< standard deviation of the response to noise: median over maxima far from spots
};

/// Decides which of all `maxima` [n] of a frame (in storage order) are spots. Only round maxima that score
/// more than `least_score` can be. None if the maxima between spots do not follow one law of noise (texture,
/// edges), or for fewer than 100 maxima. O(n log n).
///
/// Scores distinguish the shape of a spot from noise that is independent between voxels. Smoothed noise looks
/// like spots, and scores say little. But the responses of noise of any correlation follow one law: that of
/// the maxima of a Gaussian or a skewed random field (maxima_law.h). Its local scale is estimated from the
/// maxima between spots, its skew from all of them.
std::optional<ResponseSpots> spots_by_response(const Filter& filter, std::span<const LikelySpot> maxima,
                                               double least_score);

}  // namespace motes::tracking::detect
