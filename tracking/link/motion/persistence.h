#pragma once
/// Continues rounds of a linking with persistence of motion in every cost, or with belief propagation over
/// all tracks.

#include <cstdint>

#include <motes/tracking/series_links.h>

#include "tracking/link/series/rounds.h"

namespace motes::tracking {

inline constexpr int kVelocityRounds = 6;
/// Most triplets of belief propagation: for memory, and for the time of `automatic`.
inline constexpr std::int64_t kMostTriplets = 400'000'000, kMostForBeliefs = 1'000'000'000;

/// Reports too many triplets: throws if the model was asked for, otherwise another model is used.
void spare_beliefs(bool by_data, SeriesLinks& out);

/// Continues the rounds `best`, whose cost is `before`, with persistence if it is asked for or the data show
/// it (out.persistent). Links between false detections look like fast particles that stay fast, so if only
/// speeds persist, detections that `best` leaves alone must be near such ones of the next frame, as fast
/// particles are. `second_start`: without this condition, for is_better.
Rounds with_persistence(const SeriesOptions& options, Rounds best, double before, SeriesLinks& out,
                        bool second_start = false);

/// Whether detections on no track are nearer to those of the next frame than to those of a frame far away, as
/// particles are, and false detections are not. True if this cannot be told or if few detections are on no
/// track. O(points log points).
bool some_move_on(const Rounds& rounds);

/// Whether persistent rounds from another start are to be taken instead of `best`: if they are likelier. If
/// only speeds persist, detections that `best` leaves alone must meet the condition above.
bool is_better(const Rounds& other, const Rounds& best);

/// Continues rounds with belief propagation over all possible tracks, if its linking is about as likely.
/// `times`: size of the whole series relative to these points.
Rounds with_beliefs(const SeriesOptions& options, Rounds best, double times, SeriesLinks& out);

}  // namespace motes::tracking
