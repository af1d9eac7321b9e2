#pragma once
/// Spots near the noise, judged again in a wider box.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tracking/detect/choice.h"
#include "tracking/detect/evidence.h"

namespace motes::tracking::detect {

/// Extrema that score enough for a second look, with what both looks say.
struct LookedAgain {
  std::vector<ChosenSpot> extrema;  ///< in storage order, with the first look's score
  std::vector<double> scores;       ///< [extrema] softened: roundness counts by its fourth root
};

/// Sigmas of the wider box, and the softened score of the first look from which on there is a second.
constexpr double kSecondReach = 4, kLookedAt = 2.5;

/// What the first look says, and how to look again.
struct FirstLook {
  std::size_t maxima = 0, minima = 0;
  std::span<const ChosenSpot> taken;
  double noise_stretch = 1;  ///< how much wider its noise is than white noise
  const ScoredMaxima& scored;
};

/// Which of the maxima are spots; none where the second look does not apply.
///
/// In a box of 2.2 sigma a constant and a slope take up nearly half of the spot's sum of squares. A box of 4
/// sigma leaves nine tenths of it, but neighbours and uneven backgrounds disturb it. So it is used where
/// spots are few or come near the noise, are sparse, and the noise is white, and its answer holds if it has
/// more spots. O(n + m voxels of a box), m the extrema that score over 2.5 at the first look.
std::optional<std::vector<ChosenSpot>> second_look(const Filter& filter, const Shape3& shape,
                                                   const FirstLook& first);

}  // namespace motes::tracking::detect
