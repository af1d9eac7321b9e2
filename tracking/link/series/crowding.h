#pragma once
/// How much the density of detections differs from place to place.

#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// [points] density around each detection, from its tenth neighbour, divided by that of its frame; empty if
/// densities hardly differ. O(points log points), or if they hardly differ O(frames).
std::vector<double> crowding_of(const Execution& execution, const SeriesPoints& points);

}  // namespace motes::tracking
