#pragma once
/// Finds single spots that are more likely noise than particles.

#include <vector>

#include <motes/tracking/track_set.h>

namespace motes::tracking {

/// [tracks] 1 for each track of one point whose "score" (see log_detector.h) says noise, else 0.
///
/// A mixture of two kinds of single points, fitted by expectation maximisation: noise, whose scores fall off
/// exponentially from the lowest on, and particles, whose scores are spread as those of short tracks. Tracks
/// begin and end at known rates, which says how many particles are seen only once; the number of particles
/// among the single points is within a factor of two of this, unless their scores speak clearly against it.
/// All results are 0 if a mixture without noise fits the scores nearly as well, if points have no scores, or
/// if there are too few tracks. O(points log points).
std::vector<char> noise_tracks(const TrackSet& tracks);

}  // namespace motes::tracking
