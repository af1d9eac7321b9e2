#pragma once
/// Tells false detections from particles by their properties, in a series where many are false.

#include <optional>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// [points] log-odds of being a particle for SeriesPoints::log_odds, from properties (node_model.h).
/// Detections on tracks that are long enough are taken for particles. `clutter`: estimated share of false
/// detections (SeriesModel). None if few detections are on no track, or if properties explain these labels no
/// better than chance would, by the Bayesian information criterion. O(points x properties^2).
std::optional<std::vector<double>> particle_odds(const Execution& execution, const SeriesPoints& points,
                                                 const SeriesLinking& linking, double clutter);

}  // namespace motes::tracking
