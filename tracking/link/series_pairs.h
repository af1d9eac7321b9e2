#pragma once
/// Links frame to frame (linker.h) as links of a series: what its rounds can begin with.

#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/series_model.h>

namespace motes::tracking {

/// The points' positions by frame, in their order, frames numbered from 0.
std::vector<Detections> frames_of(const SeriesPoints& points);

/// Each frame linked to the next within the gate, or where it is not bounded within the estimated one; no
/// links where none can be estimated. O(points) small problems, on the CPU; the same for any thread count.
SeriesLinking link_pair_by_pair(const Execution& execution, const SeriesPoints& points, const Gate& gate);

}  // namespace motes::tracking
