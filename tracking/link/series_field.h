#pragma once
/// Predicted displacements from neighbours' links, and the linking such predictions begin from.

#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

#include "tracking/motion/near_lists.h"

namespace motes::tracking {

/// The neighbours of every detection in its frame: they stay what they are while links change.
using SeriesLists = std::vector<NearLists>;  // [frames]
SeriesLists list_neighbours(const Execution& execution, const SeriesPoints& points);

/// At every detection the field of the links from its frame to the next, its own link left out; over more
/// frames the fields of the frames between, one after the other. 0 where a frame has too few links.
/// `before`, where given, is that of the linking `of_before`: only frames whose links differ are computed,
/// with the same result. `lists`, where given, are those of the points. O(points x lags).
Prediction predict_by_field(const Execution& execution, const SeriesPoints& points,
                            const SeriesLinking& linking, int lags, Prediction before = {},
                            const SeriesLinking& of_before = {}, const SeriesLists* lists = nullptr);

/// Frame after frame: each pair is linked around the field of the pair before, then up to four times more
/// around its own, until no link changes. O(points) small problems. Where the links are long (0.25 of the
/// spacing) and the detections at most 100,000, each pair is linked from other starts too - no motion, the
/// best turn of the whole (rigid_search.h), the fields of the pairs after and before - and the likeliest
/// linking stays.
SeriesLinking link_along_field(const Execution& execution, const SeriesPoints& points,
                               const std::string& solver, const SeriesLists& lists);

}  // namespace motes::tracking
