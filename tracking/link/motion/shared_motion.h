#pragma once
/// Rounds with a common motion of all detections of a frame: a drift, or a rotation with a drift.

#include <cstddef>
#include <functional>

#include <motes/tracking/series_links.h>

#include "tracking/link/series/rounds.h"

namespace motes::tracking {

/// Up to this many detections, the motion of neighbours is tried even if links without it do not show any,
/// since these links are wrong if particles move far.
inline constexpr std::size_t kMostForAnyField = 20'000;
/// Least gain of a common motion, in nats per detection. In simulations of independent particles the choice
/// of links gave up to 0.08; samples that move as a whole gave 1 to 6.
inline constexpr double kLeastFieldGain = 0.1;
/// Least gain by the motion of neighbours if links without prediction do not show it, in nats per detection.
/// Particles that moved independently by 1.1 spacings gave up to 0.27, deforming samples at least 1.2.
inline constexpr double kLeastHiddenGain = 0.4;

/// Whether in every frame most links are so short that they cannot be by chance. Expected O(points).
bool links_are_short(const Execution& execution, Rounds& rounds);

/// Whether the links without prediction show that the detections do not move together: in every frame most
/// links are so short that they cannot be by chance, and neither a drift nor a rotation fitted to them
/// predicts them better. Then motions that lead to other links need not be tried. (Whether neighbours move
/// together is Rounds::coherence.) Expected O(points).
bool rests(const Execution& execution, Rounds& plain);

/// Replaces the rounds by those with a common drift, if these are more likely.
void try_drift(const Execution& execution, const SeriesOptions& options, const std::function<void(int)>& done,
               int lags, Rounds& best, SeriesLinks& out);

/// Replaces the rounds by those that start with a common rotation, if these are more likely: with rotations
/// fitted to the links or, unless there are `few` detections in the series, with the motion of neighbours,
/// which includes rotation.
void try_rotation(const Execution& execution, const SeriesOptions& options,
                  const std::function<void(int)>& done, bool few, int lags, Rounds& best, SeriesLinks& out);

}  // namespace motes::tracking
