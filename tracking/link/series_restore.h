#pragma once
/// The result for some detections of a series, or for its detections in another order, as one for all of them
/// in their own order.

#include <vector>

#include <motes/tracking/series_links.h>

#include "tracking/link/series_rounds.h"

namespace motes::tracking::detail {

/// Model and counts of the last rounds; their linking was taken before.
void take_rounds(Rounds&& best, SeriesLinks& links);

/// Links of the detections that are particles, as links of all. O(points).
void restore_all(const SeriesPart& part, SeriesLinks& links);

/// The result for detections in their own order again; `order` was linked, and copies (`copy_of` of the
/// result) have what those have that they follow. O(points).
void restore_order(const std::vector<matching::Index>& order, SeriesLinks& links);

}  // namespace motes::tracking::detail
