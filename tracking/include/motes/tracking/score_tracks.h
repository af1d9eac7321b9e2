#pragma once
/// All scores of found tracks against true ones.

#include <motes/base/execution.h>
#include <motes/tracking/challenge_score.h>
#include <motes/tracking/link_score.h>
#include <motes/tracking/scores.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking {

struct ScoreOptions {
  double gate = 5;       ///< pairing gate of the challenge scores, in the tracks' length unit
  double gate_link = 0;  ///< gate of the link scores; 0: the same as `gate`
};

/// All scores at once. Both sets of tracks must have the same length unit. Throws InputError for duplicate or
/// negative frames in a track and for non-finite positions; UsageError for a gate that is not positive.
Scores score_tracks(const Execution& execution, const TrackSet& truth, const TrackSet& found,
                    const ScoreOptions& options);

/// Drops points whose frame is not a multiple of `step` and divides the other frames by it; tracks left
/// without points are dropped. Throws UsageError for a step below 1.
TrackSet keep_every(const TrackSet& tracks, std::int32_t step);

}  // namespace motes::tracking
