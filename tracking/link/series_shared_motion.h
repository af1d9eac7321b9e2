#pragma once
/// Rounds around a motion that all detections of a frame share: a drift, or a rotation with a drift.

#include <cstddef>
#include <functional>

#include <motes/tracking/series_links.h>

#include "tracking/link/series_rounds.h"

namespace motes::tracking {

/// So many detections are linked around neighbours' motion even where links without it do not tell of any:
/// where particles move far, these links are wrong.
inline constexpr std::size_t kMostForAnyField = 20'000;
/// A field that links without it do not tell of, in nats a detection: in simulations of particles that move
/// on their own up to .08 came from links chosen to look so, of samples that move as a whole 1 to 6.
inline constexpr double kLeastFieldGain = 0.1;

/// The rounds around the motion that all detections share, where they are likelier.
void try_drift(const Execution& execution, const SeriesOptions& options, const std::function<void(int)>& done,
               int lags, Rounds& best, SeriesLinks& out);

/// The rounds that begin with a rotation of all, where they are likelier: around rotations fitted to the
/// links or, where there are many detections, around neighbours' motion, which says the same and more.
void try_rotation(const Execution& execution, const SeriesOptions& options,
                  const std::function<void(int)>& done, int lags, Rounds& best, SeriesLinks& out);

}  // namespace motes::tracking
