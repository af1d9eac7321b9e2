#pragma once
/// Links a series that was simulated from the model of a linked one.

#include <cstdint>
#include <span>

#include <motes/tracking/series_links.h>

namespace motes::tracking::detail {

/// Whether link_again can link series like this one: without motion of neighbours, false detections around
/// particles, and scaled axes.
bool can_link_again(const SeriesLinks& like);

/// Links detections that move like those of `like`: rounds of its motion model that start from its
/// parameters. `first_frame`: the frame of `like` that the first frame resembles. `options`: those that
/// `like` was linked with. At most three rounds (six with velocity), each O(candidates) and an assignment.
SeriesLinks link_again(const Execution& execution, std::span<const Detections> frames,
                       std::int32_t first_frame, const SeriesLinks& like, const SeriesOptions& options);

}  // namespace motes::tracking::detail
