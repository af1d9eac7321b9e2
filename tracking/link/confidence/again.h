#pragma once
/// Links a series that was simulated from the model of a linked one.

#include <motes/tracking/series_links.h>

#include "tracking/link/confidence/confidence_steps.h"

namespace motes::tracking::detail {

/// Whether link_again can link series like this one: without motion of neighbours, false detections around
/// particles, and scaled axes.
bool can_link_again(const SeriesLinks& like);

/// Links a series that was simulated like `like`: rounds of its motion model that start from its parameters.
/// `options`: those that `like` was linked with. At most three rounds (six with velocity), each O(candidates)
/// and an assignment.
SeriesLinks link_again(const Execution& execution, const SimulatedSeries& series, const SeriesLinks& like,
                       const SeriesOptions& options);

}  // namespace motes::tracking::detail
