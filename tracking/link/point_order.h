#pragma once
/// Orders of the detections that do not depend on their order in the input. Sums and samples over them, and
/// so all estimates, are then the same for any order of the rows of a table.

#include <span>
#include <vector>

#include <motes/tracking/series_model.h>

namespace motes::tracking::detail {

/// [points] pooled detections frame by frame. Those of a frame are in order of a hash of the position (so
/// that ties of distances prefer no direction), then of position and properties (unknown values first).
/// Detections equal in all of these keep their order. O(points log points).
std::vector<matching::Index> position_order(const SeriesPoints& points);

/// An order for large series in which neighbours are close together: those of a frame are in order of cells
/// of some hundred detections along a Z-order curve, and within a cell as in `order`. O(points log points).
std::vector<matching::Index> cell_order(const Execution& execution, const SeriesPoints& points,
                                        std::span<const matching::Index> order);

/// [points] the place of each detection in `order`, which lists all or some of `points`; -1: not listed.
std::vector<matching::Index> places_in(std::span<const matching::Index> order, std::size_t points);

/// The listed detections in that order, with their properties. `order` must go frame by frame. Density and
/// spacing are not set.
SeriesPoints select_points(const SeriesPoints& points, std::span<const matching::Index> order);

/// The predictions of the listed detections.
Prediction select_prediction(const Prediction& prediction, std::span<const matching::Index> order);

/// The links among the listed detections; `place`: from places_in.
SeriesLinking select_links(const SeriesLinking& linking, std::span<const matching::Index> order,
                           std::span<const matching::Index> place);

}  // namespace motes::tracking::detail
