#pragma once
/// The ISBI Particle Tracking Challenge's scores (Chenouard et al., Nature Methods 2014, supplement).
///
/// A track is a map frame -> position; inner gaps are filled by linear interpolation with virtual points.
/// Distance of reference r and candidate c that overlap in time: gate * (|difference of first frames| +
/// |difference of last frames|) + the sum over the overlap of e_t, where e_t is the Euclidean distance if the
/// candidate's point is real and nearer than the gate, else the gate. Feasible only with at least one such
/// match. References are assigned to feasible candidates, or to a dummy at gate * length(r), at minimum cost.

#include <motes/base/execution.h>
#include <motes/tracking/scores.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking {

/// The assignment is exact. O(points + pairs that come within the gate), without the assignment. `gate`: in
/// the tracks' length unit. Throws as score_tracks does.
ChallengeScores challenge_scores(const Execution& execution, const TrackSet& reference,
                                 const TrackSet& candidate, double gate);

}  // namespace motes::tracking
