#pragma once
/// Links frame to frame (linker.h) as a start for the rounds of a series.

#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/series_model.h>

namespace motes::tracking {

/// The positions of the points by frame, in their order; frames are numbered from 0.
std::vector<Detections> frames_of(const SeriesPoints& points);

/// Links each frame to the next within the gate, or within an estimated gate if it is not bounded (the
/// spacing of the others, if some detections are crowded); no links if none can be estimated. O(points) small
/// problems, on the CPU; the same for any thread count.
SeriesLinking link_pair_by_pair(const Execution& execution, const SeriesPoints& points, const Gate& gate);

}  // namespace motes::tracking
