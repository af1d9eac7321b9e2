#pragma once
/// The detections of a series in an order that their rows in a table do not decide: sums and samples over
/// them, and with these all that is estimated, are then the same for any order of the rows.

#include <span>
#include <vector>

#include <motes/tracking/series_model.h>

namespace motes::tracking::detail {

/// [points] pooled detections frame by frame, each frame's by the hash of the position, so that no direction
/// is preferred where distances tie, then by position and by properties (unknown values first); those that
/// agree in all of these stay as they are. O(points log points).
std::vector<matching::Index> position_order(const SeriesPoints& points);

/// The same with what lies together next to each other, for large series: each frame's by cells of some
/// hundred detections along a Z-order curve, within a cell as they are in `order`. O(points log points).
std::vector<matching::Index> cell_order(const Execution& execution, const SeriesPoints& points,
                                        std::span<const matching::Index> order);

/// [points] the place of each detection in `order`, which lists all `points` or some; -1: not listed.
std::vector<matching::Index> places_in(std::span<const matching::Index> order, std::size_t points);

/// Those detections, in that order, with their properties; frames must not mix. Density and spacing are left
/// to be set.
SeriesPoints select_points(const SeriesPoints& points, std::span<const matching::Index> order);

/// The displacements expected of those detections.
Prediction select_prediction(const Prediction& prediction, std::span<const matching::Index> order);

/// The links among those detections; `place` as places_in gives it.
SeriesLinking select_links(const SeriesLinking& linking, std::span<const matching::Index> order,
                           std::span<const matching::Index> place);

}  // namespace motes::tracking::detail
