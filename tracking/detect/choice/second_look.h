#pragma once
/// Judges spots near the noise again, in a wider box.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/evidence/evidence.h"

namespace motes::tracking::detect {

/// Extrema that score enough for a second look, with both scores.
struct LookedAgain {
  std::vector<ChosenSpot> extrema;  ///< in storage order, with the first look's score
  std::vector<double> scores;  ///< [extrema] of the second look, softened: with the fourth root of roundness
};

/// Reach of the wider box in sigmas; and the softened score of the first look from which on there is a second
/// one.
constexpr double kSecondReach = 4, kLookedAt = 2.5;

/// The result of the first look, and the access to the second one.
struct FirstLook {
  std::size_t maxima = 0, minima = 0;
  std::span<const ChosenSpot> taken;
  double noise_stretch = 1;  ///< how much wider its scores of noise are than those of white noise
  const ScoredMaxima& scored;
};

/// The spots by the second look; none if it does not apply.
///
/// In a box of 2.2 sigma, a constant and a slope explain nearly half of a spot's sum of squares. In a box of
/// 4 sigma nine tenths remain, but neighbours and uneven backgrounds disturb more. So the wider box is used
/// if spots are sparse, the noise is white, and spots are few or close to the noise. Its result is used if it
/// has more spots. O(n + m * voxels of a box), where m is the number of extrema that score over 2.5 at the
/// first look.
std::optional<std::vector<ChosenSpot>> second_look(const Filter& filter, const Shape3& shape,
                                                   const FirstLook& first);

}  // namespace motes::tracking::detect
