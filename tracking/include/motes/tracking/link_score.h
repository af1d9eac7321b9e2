#pragma once
/// Precision, recall and F1 of links.
///
/// Found positions are matched one to one to true ones per frame within the gate (minimum cost). A found link
/// is true if both ends belong to one true particle and it skips no frame of that particle's track; neutral
/// if it joins a mother to her daughter (`parent`) or a particle to the one it merges into, or two positions
/// that match no true particle; else false. Missed are the true links (consecutive points of one true track)
/// that are not among the found ones. `gate`: in the tracks' length unit. Throws as score_tracks does.
/// O(points + pairs within the gate), without the assignments.

#include <motes/base/execution.h>
#include <motes/tracking/scores.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking {

LinkScores link_scores(const Execution& execution, const TrackSet& truth, const TrackSet& found, double gate);

}  // namespace motes::tracking
