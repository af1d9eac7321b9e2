#pragma once
/// How many detections surely have a partner in the next frame, from pair counts alone.

#include <motes/base/execution.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// A share of all detections that surely have a partner in the next frame, 0 to 1: pairs of successive frames
/// nearer than a length, less those within a frame (which chance makes as often), less two standard
/// deviations; the highest of all lengths up to kReachPerSpacing spacings. It needs no links: a linking that
/// leaves more detections alone than this allows is wrong, however likely. O(points of sampled frames).
double sure_partners(const Execution& execution, const SeriesPoints& points);

}  // namespace motes::tracking
