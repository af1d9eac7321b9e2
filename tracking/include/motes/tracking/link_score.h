#pragma once
/// Precision, recall and F1 of links.
///
/// Found positions are matched one to one to true ones per frame within the gate (minimum cost). A found link
/// counts as true when both ends belong to one true particle and no true frame of it lies between; as neutral
/// when it joins a mother to her daughter (`parent`), or two positions of no true particle; else as
/// false. Missed are the true links (consecutive points of one true track) that no true found link covers.

#include <motes/base/execution.h>
#include <motes/tracking/scores.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking {

LinkScores link_scores(const Execution& execution, const TrackSet& truth, const TrackSet& found, double gate);

}  // namespace motes::tracking
