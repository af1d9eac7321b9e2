#pragma once
/// Finds short tracks, mostly single spots, that are more likely noise than particles.

#include <vector>

#include <motes/tracking/track_set.h>

namespace motes::tracking {

/// [tracks] 1 for each track of at most five points whose "score" (see log_detector.h) and length say noise,
/// else 0.
///
/// A mixture of two kinds of tracks, fitted by expectation maximisation. After each point, a track goes on
/// with a probability of its kind, unless the series ends. Scores of noise fall off exponentially from the
/// lowest on; those of particles are spread as on short tracks. All results are 0 if a mixture without noise
/// fits nearly as well, if points have no scores, or if there are too few tracks. O(points log points).
std::vector<char> noise_tracks(const TrackSet& tracks);

}  // namespace motes::tracking
