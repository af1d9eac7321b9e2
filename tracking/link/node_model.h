#pragma once
/// How likely each detection is to be a particle: an additive logistic regression on its properties and its
/// neighbourhood, with labels that come from a linking.
///
/// Every feature is cut into bins, and the log-odds are a constant plus one number for each feature's bin
/// (a generalised additive model; ridge of 2 on the bins, none on the constant; Newton's method). Bins need
/// no scale and no shape to be assumed.

#include <cstdint>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_points.h>

#include "tracking/link/close_pairs.h"

namespace motes::tracking {

struct NodeFeatures {
  std::vector<std::uint16_t> width;  ///< [features] bins of each
  std::vector<std::uint16_t> bin;    ///< [points][features]
  std::size_t count() const { return width.size(); }
};

/// Whether particles have the larger (+1) or the smaller (-1) values of a property, 0 where it cannot be
/// told, and by how large a majority of the close pairs: of a particle and its satellites the more central
/// one is the particle.
struct Agreement {
  double side = 0, share = 0;  ///< share over one half
};
Agreement agreement_with(const SeriesPoints& points, const CloseNeighbours& close,
                         const std::vector<double>& central, const std::vector<double>& values);

/// [points] middle rank of a column's values in their frame, from 0 to 1; NaN where unknown.
std::vector<double> frame_ranks(const SeriesPoints& points, const std::vector<double>& values);

/// Of every detection: the block of its frame; how many neighbours it has, how far off their centroid it is
/// and how near the nearest is; and of each property (at most kMostProperties of them): its rank in the frame
/// and, where there is an exclusion radius, how near the nearest larger and the nearest equal neighbour are,
/// how many neighbours are smaller, and its rank less that of its largest neighbour. Values are never
/// compared between frames. `side` [properties]: Agreement::side.
NodeFeatures node_features(const Execution& execution, const SeriesPoints& points,
                           const CloseNeighbours& close, const std::vector<double>& side);

inline constexpr std::size_t kMostProperties = 6;

/// [points] log-odds, within +-9, of `real` being 1. O(points x features^2 + (sum of widths)^3) a step.
std::vector<double> fit_log_odds(const NodeFeatures& features, std::span<const char> real);

}  // namespace motes::tracking
