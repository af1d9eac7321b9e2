#pragma once
/// Turns the result for some detections of a series, or for another order, into one for all detections in the
/// original order.

#include <vector>

#include <motes/tracking/series_links.h>

#include "tracking/link/series/rounds.h"

namespace motes::tracking::detail {

/// Moves the model and counts of the last rounds to the result; their linking is already there.
/// `by_position`: the detections of the rounds are all in order of position; then also candidates, if odds
/// can use them.
void take_rounds(Rounds&& best, SeriesLinks& links, bool by_position = false);

/// Turns links of the particles into links of all detections. O(points).
void restore_all(const SeriesPart& part, SeriesLinks& links);

/// Restores the original order of detections, of which `order` was linked. Copies (`copy_of` of the result)
/// get the values of the detection they follow. O(points).
void restore_order(const std::vector<matching::Index>& order, SeriesLinks& links);

/// Counts all links and those over gaps.
void count_links(SeriesLinks& links);

}  // namespace motes::tracking::detail
