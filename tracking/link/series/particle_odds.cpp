#include "tracking/link/series/particle_odds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include "tracking/link/series/close_pairs.h"
#include "tracking/link/series/node_model.h"

namespace motes::tracking {
namespace {

/// Least number of detections of each kind, and least share of those on no track.
constexpr double kLeastOfKind = 30, kLeastShare = 0.03;

/// -log(1 + exp(-z)), without overflow.
double log_sigmoid(double z) { return std::min(z, 0.0) - std::log1p(std::exp(-std::abs(z))); }

/// The features of detections without their neighbourhood.
NodeFeatures own_features(const Execution& execution, const SeriesPoints& points) {
  CloseNeighbours none;
  none.radius.assign(static_cast<std::size_t>(points.frames()), 0);
  none.offsets.assign(points.size() + 1, 0);
  return node_features(execution, points, none, std::vector<double>(points.properties.size(), 1));
}

/// The gain in log-likelihood of the labels by `log_odds` over the same log-odds for all.
double gain_of(std::span<const char> real, std::span<const double> log_odds, double constant) {
  double gain = 0;
  for (std::size_t i = 0; i < real.size(); ++i) {
    const double sign = real[i] != 0 ? 1 : -1;
    gain += log_sigmoid(sign * log_odds[i]) - log_sigmoid(sign * constant);
  }
  return gain;
}

}  // namespace

std::optional<std::vector<double>> particle_odds(const Execution& execution, const SeriesPoints& points,
                                                 const SeriesLinking& linking, double clutter) {
  if (points.properties.empty()) return std::nullopt;
  const std::vector<char> real = on_long_tracks(points, linking, std::vector<char>(points.size(), 1));
  const auto n = static_cast<double>(real.size());
  const auto on_tracks = static_cast<double>(std::count(real.begin(), real.end(), 1));
  if (std::min(on_tracks, n - on_tracks) < kLeastOfKind || n - on_tracks < kLeastShare * n)
    return std::nullopt;
  const NodeFeatures features = own_features(execution, points);
  std::vector<double> out = fit_log_odds(features, real);
  const double constant = std::log(on_tracks / (n - on_tracks));
  const double parameters = std::accumulate(features.width.begin(), features.width.end(), 0.0);
  if (!(gain_of(real, out, constant) > 0.5 * parameters * std::log(n))) return std::nullopt;
  // The share of particles is taken out, since costs compare with the density of all detections.
  for (double& z : out) z -= constant + std::log(clutter);
  return out;
}

}  // namespace motes::tracking
