#pragma once
/// Judges spots near the noise again, in a wider box.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <motes/base/host_device.h>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/evidence/evidence.h"

namespace motes::tracking::detect {

/// Extrema that deserve a second look, with the evidence of both.
struct LookedAgain {
  std::vector<ChosenSpot> extrema;  ///< in storage order, with the first look's score
  std::vector<Evidence> evidence;   ///< [extrema] of the second look; score, roundness and amplitude are set
};

/// Reach of the wider box in sigmas; and the softened score of the first look from which on there is a second
/// one.
constexpr double kSecondReach = 4, kLookedAt = 2.5;

/// Whether an extremum with the evidence `e` of the first look gets a second one. `response`: positive for
/// maxima and for minima. A weak spot may score low in the first look and still respond clearly.
MOTES_HOST_DEVICE inline bool deserves_second_look(const Evidence& e, double response, double least) {
  return softened(e) > kLookedAt || response >= least;
}

/// The result of the first look, and the access to the second one.
struct FirstLook {
  const VolumeFrame& frame;
  const ScoredMaxima& maxima;
  const ScoredMinima& minima;
  std::span<const ChosenSpot> taken;  ///< with the scores of the first look
  double level = 0;                   ///< least score of spots outside crowds
  double noise_stretch = 1;           ///< how much wider its scores of noise are than those of white noise
  bool comparing = false;             ///< scales are compared: spots keep the scores of the first look
  bool applies = false;               ///< the second look is known to apply
};

/// Replaces the spots of `choice` by those of the second look, if it applies; returns whether it did.
///
/// In a box of 2.2 sigma, a constant and a slope explain nearly half of a spot's sum of squares. In a box of
/// 4 sigma nine tenths remain, but neighbours and uneven backgrounds disturb more. So the wider box is used
/// if spots are sparse, the noise is white, and spots are few or close to the noise. Its result is used if it
/// has more spots. With an expected number of `false_spots` the number of spots does not matter; those in
/// `first.taken`, which were found without it, are kept. O(n + m * voxels of a box), where m is the number of
/// extrema that get a second look.
bool choose_again(const Filter& filter, const FirstLook& first, std::optional<double> false_spots,
                  Choice& choice);

}  // namespace motes::tracking::detect
