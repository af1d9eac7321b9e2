#pragma once
/// Linking of a series that was simulated from the model of a linked one.

#include <cstdint>
#include <span>

#include <motes/tracking/series_links.h>

namespace motes::tracking::detail {

/// Whether link_again can link series like this one: without neighbours' motion, satellites or scaled axes.
bool can_link_again(const SeriesLinks& like);

/// Links of detections that move as those of `like` do: rounds of its model, begun with its parameters in
/// place of guesses. `first_frame`: the frame of `like` that the first one is like. `options`: as `like` was
/// linked with. O(candidates) a round, of at most three (six with velocity).
SeriesLinks link_again(const Execution& execution, std::span<const Detections> frames,
                       std::int32_t first_frame, const SeriesLinks& like, const SeriesOptions& options);

}  // namespace motes::tracking::detail
