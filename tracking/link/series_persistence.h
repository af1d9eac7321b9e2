#pragma once
/// Rounds that begin with a linking and end with persistence of motion in every cost, or with beliefs over
/// all tracks.

#include <cstdint>

#include <motes/tracking/series_links.h>

#include "tracking/link/series_rounds.h"

namespace motes::tracking {

inline constexpr int kVelocityRounds = 6;
/// Triplets of beliefs: what memory holds where they are asked for, and what `automatic` spends.
inline constexpr std::int64_t kMostTriplets = 400'000'000, kMostForBeliefs = 1'000'000'000;
/// Beliefs are given up after six rounds where their linking is less likely by so many nats a detection, and
/// links that begin frame to frame after two.
inline constexpr double kHopeless = 0.09;

/// Where there are too many triplets: another model will do, unless this one is asked for.
void spare_beliefs(bool by_data, SeriesLinks& out);

/// From these rounds on, of a cost of `before`, with persistence: as far as it is asked for, or as the data
/// ask for it (out.persistent).
Rounds with_persistence(const SeriesOptions& options, Rounds best, double before, SeriesLinks& out);

/// From rounds with persistence on, over all possible tracks at once, where that is as likely. `times`: how
/// many times as large the whole series is.
Rounds with_beliefs(const SeriesOptions& options, Rounds best, double times, SeriesLinks& out);

}  // namespace motes::tracking
