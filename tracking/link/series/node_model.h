#pragma once
/// The probability that a detection is a particle: an additive logistic regression on its properties and its
/// neighbourhood, with labels from a linking.
///
/// Every feature is divided into bins. The log-odds are a constant plus one number for the bin of each
/// feature (a generalised additive model; ridge of 2 on the bins, none on the constant; Newton's method).
/// With bins, neither scale nor shape of the dependence is assumed.

#include <cstdint>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>
#include <motes/tracking/series_points.h>

#include "tracking/link/series/close_pairs.h"

namespace motes::tracking {

struct NodeFeatures {
  std::vector<std::uint16_t> width;  ///< [features] number of bins
  std::vector<std::uint16_t> bin;    ///< [points][features]
  std::size_t count() const { return width.size(); }
};

/// Whether particles have larger (side +1) or smaller (-1) values of a property than the false detections
/// around them; 0: not known. It is decided by a majority of close pairs, in which the more central detection
/// is taken for the particle.
struct Agreement {
  double side = 0, share = 0;  ///< share: of the majority, minus one half
};
Agreement agreement_with(const SeriesPoints& points, const CloseNeighbours& close,
                         const std::vector<double>& central, const std::vector<double>& values);

/// [points] rank of the value within its frame, from 0 to 1 (mean rank of equal ones); NaN: unknown.
std::vector<double> frame_ranks(const SeriesPoints& points, const std::vector<double>& values);

/// The features of every detection: the block of its frame, the number of its neighbours, its distance from
/// their centroid, and the distance of the nearest. For each property (at most kMostProperties): its rank in
/// the frame and, if there is an exclusion radius, the distances of the nearest neighbours with a larger and
/// with an equal value, the number of neighbours with smaller values, and its rank minus that of its largest
/// neighbour. Values of different frames are not compared. `side` [properties]: Agreement::side.
NodeFeatures node_features(const Execution& execution, const SeriesPoints& points,
                           const CloseNeighbours& close, const std::vector<double>& side);

inline constexpr std::size_t kMostProperties = 6;

/// [points] 1: of `kept`, and on a track that is long enough for a particle: a quarter of the median length,
/// and three detections unless the series is short. O(points).
std::vector<char> on_long_tracks(const SeriesPoints& points, const SeriesLinking& linking,
                                 std::span<const char> kept);

/// [points] log-odds, within +-9, of `real` being 1. O(points x features^2 + (sum of widths)^3) per step.
std::vector<double> fit_log_odds(const NodeFeatures& features, std::span<const char> real);

}  // namespace motes::tracking
