#pragma once
/// The share of detections that surely have a partner in the next frame, from pair counts.

#include <motes/base/execution.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// A lower bound, 0 to 1: the number of pairs of successive frames closer than a length, minus that within a
/// frame (chance gives the same number), minus one to two standard deviations; the highest of all lengths up
/// to kReachPerSpacing spacings. It does not depend on links: a linking that leaves more detections without
/// partner is wrong, even if it is likely. O(points of sampled frames).
double sure_partners(const Execution& execution, const SeriesPoints& points);

/// About the median displacement of particles from one frame to the next; 0 if it is not seen. Chance gives
/// as many near points in the next frame as in the same frame; particles that move little give more. This is
/// the distance within which half of these additional points lie. O(points of sampled frames).
double partner_distance(const Execution& execution, const SeriesPoints& points);

}  // namespace motes::tracking
