#pragma once
/// The parameters of the series linker: how long particles stay undetected, how often tracks end and begin,
/// how many detections are false, and how far particles move from where they are predicted. They are
/// estimated from a linking and improved in rounds.
///
/// Negative log-likelihoods, in nats (rho: detections per unit volume; e, b, f: shares of ends, births and
/// false detections; pi_k: share of links over k frames; p_k: density of the displacement over k frames):
///
///   link over k frames   -log(1 - e) - log pi_k - log p_k(displacement - predicted)
///   end of a track       -log(e + (1 - e) P(elapsed > frames left))
///   begin of a track     -log(rho (b + (1 - b) P(elapsed > frames before)))
///   false detection      -log(rho f), or -log(rho) + its log-odds of being a particle, if known

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>
#include <motes/tracking/gate.h>
#include <motes/tracking/radial_density.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

struct VelocityModel;
class Occlusion;

/// A linking of pooled detections.
struct SeriesLinking {
  std::vector<matching::Index> next, previous;  ///< [points] pooled index, -1 none
  static SeriesLinking none(std::size_t points) {
    return {std::vector(points, matching::Index{-1}), std::vector(points, matching::Index{-1})};
  }
  std::int64_t links() const;
};

/// Predicted displacements by elapsed frames and pooled detection; empty: 0.
struct Prediction {
  std::vector<std::vector<Vec3>> by_lag;  ///< [lags][points], or empty
  Vec3 of(int lag, matching::Index i) const {
    return by_lag.empty() ? Vec3{} : by_lag[static_cast<std::size_t>(lag) - 1][static_cast<std::size_t>(i)];
  }
};

/// Displacement from i to the later detection j, minus the predicted one.
inline Vec3 residual(const SeriesPoints& points, const Prediction& prediction, matching::Index i,
                     matching::Index j) {
  const auto first = static_cast<std::size_t>(i), second = static_cast<std::size_t>(j);
  const Vec3 &from = points.at[first], &to = points.at[second];
  const Vec3 p = prediction.of(points.slot[second] - points.slot[first], i);
  return {to.x - from.x - p.x, to.y - from.y - p.y, to.z - from.z - p.z};
}

struct SeriesModel {
  int dims = 3;
  std::vector<double> elapsed;  ///< [lags] pi_k, with sum 1
  /// Shares of detections that are the last of a track, the first, on no track.
  double end = 0.02, birth = 0.02, clutter = 0.02;
  Gate gate;                         ///< as given, not estimated
  std::vector<double> scale;         ///< [frames] scale of residuals over one frame
  std::vector<double> growth;        ///< [lags] scale over k frames / scale over one; growth[0] = 1
  std::vector<RadialDensity> shape;  ///< [lags] density of residuals divided by their scale

  int lags() const { return static_cast<int>(elapsed.size()); }
  double scale_of(std::int32_t slot, int lag) const {
    return scale[static_cast<std::size_t>(slot)] * growth[static_cast<std::size_t>(lag) - 1];
  }
  /// Cost of a link in nats; `length`: of the residual.
  double link_cost(std::int32_t slot, int lag, double length) const;
  double end_cost(std::int32_t frames_left) const;
  double birth_cost(double density, std::int32_t frames_before) const;
  double clutter_cost(double density) const;
  /// The same for detection i, from its own log-odds if they are known.
  double clutter_cost(const SeriesPoints& points, matching::Index i) const;
  /// The longest link from that frame over `lag` frames that an optimum can contain. `frames_before`: frames
  /// before the first one, if the points are a part of a longer series.
  double reach(const SeriesPoints& points, std::int32_t slot, int lag, std::int32_t frames_before = 0) const;
};

/// The initial model: the scale from mutual nearest neighbours of successive frames (beyond the
/// prediction), growing as in a random walk. O(points log points).
SeriesModel first_model(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                        int lags);
/// The same on one thread.
SeriesModel first_model(const SeriesPoints& points, const Prediction& prediction, int lags);

/// The model with all parameters estimated from a linking. `velocity`: how links depend on the links before
/// and after them; null: not known. `occlusion`: which gaps are expected; null: not known. Expected O(points
/// x lags).
SeriesModel fit_model(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                      const SeriesLinking& linking, const SeriesModel& before,
                      const VelocityModel* velocity = nullptr, const Occlusion* occlusion = nullptr);
/// The same on one thread.
SeriesModel fit_model(const SeriesPoints& points, const Prediction& prediction, const SeriesLinking& linking,
                      const SeriesModel& before);

/// Calls visit(i, j, lag) for the later detections j on the track of i that are `lag` frames after it,
/// 1 <= lag <= lags, in rising order.
template <class Visit>
void for_each_lagged(const SeriesPoints& points, const SeriesLinking& linking, int lags, matching::Index i,
                     const Visit& visit) {
  const auto next = [&](matching::Index k) { return linking.next[static_cast<std::size_t>(k)]; };
  for (matching::Index j = next(i); j >= 0; j = next(j)) {
    const int lag = points.slot[static_cast<std::size_t>(j)] - points.slot[static_cast<std::size_t>(i)];
    if (lag > lags) break;
    visit(i, j, lag);
  }
}

}  // namespace motes::tracking
