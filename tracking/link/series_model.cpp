#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <motes/base/index.h>
#include <motes/base/quantile.h>
#include <motes/tracking/series_model.h>

#include "tracking/motion/near_points.h"

namespace motes::tracking {
namespace {

using matching::Index;

/// Shares of ends and births are never taken to be below this: a track can always end.
constexpr double kLeastShare = 1e-3, kMostShare = 0.3;
constexpr double kLeastLone = 1e-4, kMostLone = 0.5;
/// A scale is the median over as many frames around as hold so many links.
constexpr std::size_t kScaleSample = 300;
constexpr std::int32_t kLeastHalfWindow = 2;
/// No scale is taken to be below this part of the spacing: exact repetitions must not make all else
/// impossible.
constexpr double kLeastScalePerSpacing = 0.005;
/// Links that chance alone would offer a detection within the reach; the reach is cut where there were more.
constexpr double kMostByChance = 48;
constexpr double kMostScales = 24;

double beyond(const std::vector<double>& elapsed, std::int32_t frames) {
  double sum = 0;
  for (std::size_t k = at(std::max<std::int32_t>(frames, 0)); k < elapsed.size(); ++k) sum += elapsed[k];
  return sum;
}

/// Scales by frame, from residual lengths of links over one frame by the frame where they start.
std::vector<double> smooth_scales(const std::vector<std::vector<double>>& lengths, double median_per_scale,
                                  double least, double otherwise) {
  const auto frames = static_cast<std::int32_t>(lengths.size());
  std::vector<double> scales(lengths.size(), otherwise);
  for (std::int32_t t = 0; t < frames; ++t) {
    std::vector<double> window;
    for (std::int32_t half = 0; half < frames; ++half) {
      for (const std::int32_t s : {t - half, t + half}) {
        if (s < 0 || s >= frames || (half == 0 && s != t)) continue;
        window.insert(window.end(), lengths[at(s)].begin(), lengths[at(s)].end());
        if (half == 0) break;
      }
      if (half >= kLeastHalfWindow && window.size() >= kScaleSample) break;
    }
    if (window.size() >= 8) scales[at(t)] = std::max(quantile(window, 0.5) / median_per_scale, least);
  }
  return scales;
}

}  // namespace

std::int64_t SeriesLinking::links() const {
  return std::count_if(next.begin(), next.end(), [](Index j) { return j >= 0; });
}

double dot(const Vec3& a, const Vec3& b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
double length_of(const Vec3& v) { return std::sqrt(dot(v, v)); }

Vec3 residual(const SeriesPoints& points, const Prediction& prediction, Index i, Index j) {
  const Vec3 &from = points.at[at(i)], &to = points.at[at(j)];
  const Vec3 p = prediction.of(points.slot[at(j)] - points.slot[at(i)], i);
  return {to.x - from.x - p.x, to.y - from.y - p.y, to.z - from.z - p.z};
}

double SeriesModel::link_cost(std::int32_t slot, int lag, double length) const {
  const double s = scale_of(slot, lag);
  return dims * std::log(s) - shape[at(lag) - 1].log_density(length / s) -
         std::log(elapsed[at(lag) - 1] * (1 - end));
}
double SeriesModel::end_cost(std::int32_t frames_left) const {
  return -std::log(end + (1 - end) * beyond(elapsed, frames_left));
}
double SeriesModel::birth_cost(double density, std::int32_t frames_before) const {
  return -std::log(density * (birth + (1 - birth) * beyond(elapsed, frames_before)));
}
double SeriesModel::lone_cost(double density) const { return -std::log(density * lone); }
double SeriesModel::lone_cost(const SeriesPoints& points, Index i) const {
  const double density = points.density[at(points.slot[at(i)])];
  return points.log_odds.empty() ? lone_cost(density) : points.log_odds[at(i)] - std::log(density);
}

double SeriesModel::reach(const SeriesPoints& points, std::int32_t slot, int lag) const {
  const std::int32_t to = slot + lag;
  const double most_cost = end_cost(points.frames() - 1 - slot) + birth_cost(points.density[at(to)], to);
  const double s = scale_of(slot, lag);
  const double level = dims * std::log(s) - std::log(elapsed[at(lag) - 1] * (1 - end)) - most_cost;
  const double by_chance =
      std::pow(kMostByChance / (points.density[at(to)] * ball_volume(points.dims, 1)), 1.0 / points.dims);
  return std::min(s * shape[at(lag) - 1].reach(level, kMostScales), by_chance);
}

SeriesModel first_model(const SeriesPoints& points, const Prediction& prediction, int lags) {
  SeriesModel model;
  model.dims = points.dims;
  const double median_per_scale = student_median(points.dims);
  std::vector<std::vector<double>> lengths(at(points.frames()));
  std::vector<double> all;
  for (std::int32_t t = 0; t + 1 < points.frames(); ++t) {
    const auto from = points.frame(t), to = points.frame(t + 1);
    if (from.empty() || to.empty()) continue;
    std::vector<Vec3> moved(from.begin(), from.end());
    for (std::size_t k = 0; k < moved.size(); ++k) {
      const Vec3 p = prediction.of(1, points.offset[at(t)] + static_cast<Index>(k));
      moved[k] = {moved[k].x + p.x, moved[k].y + p.y, moved[k].z + p.z};
    }
    const NearPoints near_to(to), near_from(moved);
    for (std::size_t k = 0; k < moved.size(); ++k) {
      std::size_t there = 0, back = 0;
      double squared = 0, ignored = 0;
      near_to.nearest(moved[k], 1, &there, &squared);
      near_from.nearest(to[there], 1, &back, &ignored);
      if (back == k) lengths[at(t)].push_back(std::sqrt(squared));
    }
    all.insert(all.end(), lengths[at(t)].begin(), lengths[at(t)].end());
  }
  const double least = kLeastScalePerSpacing * points.spacing_um;
  const double typical =
      all.empty() ? 0.2 * points.spacing_um : std::max(quantile(all, 0.5) / median_per_scale, least);
  model.scale = smooth_scales(lengths, median_per_scale, least, typical);
  double sum = 0;
  for (int k = 1; k <= lags; ++k) {
    model.elapsed.push_back(0.9 * std::pow(0.1, k - 1));
    sum += model.elapsed.back();
    model.growth.push_back(std::pow(k, 0.65));
    model.shape.emplace_back(points.dims);
  }
  for (double& share : model.elapsed) share /= sum;
  return model;
}

SeriesModel fit_model(const SeriesPoints& points, const Prediction& prediction, const SeriesLinking& linking,
                      const SeriesModel& before) {
  SeriesModel model = before;
  const int lags = before.lags();
  const std::int32_t last = points.frames() - 1;
  // Elapsed frames: of rows that could have used every one of them.
  std::vector<double> count(at(lags), 0.5);
  double open_rows = 0, ended = 0, open_cols = 0, begun = 0, inner = 0, alone = 0;
  const bool long_enough = points.frames() > 2 * lags;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool has_next = linking.next[i] >= 0, has_previous = linking.previous[i] >= 0;
    const std::int32_t t = points.slot[i];
    const bool full_after = t <= last - lags, full_before = t >= lags;
    if (has_next && (full_after || !long_enough))
      if (const int lag = points.slot[at(linking.next[i])] - t; lag <= lags) count[at(lag) - 1] += 1;
    if (full_after && (has_next || has_previous)) open_rows += 1, ended += !has_next;
    if (full_before && (has_next || has_previous)) open_cols += 1, begun += !has_previous;
    if (full_after && full_before) inner += 1, alone += !has_next && !has_previous;
  }
  const double links = std::accumulate(count.begin(), count.end(), 0.0);
  for (std::size_t k = 0; k < count.size(); ++k) model.elapsed[k] = count[k] / links;
  model.end = std::clamp(ended / std::max(open_rows, 1.0), kLeastShare, kMostShare);
  model.birth = std::clamp(begun / std::max(open_cols, 1.0), kLeastShare, kMostShare);
  model.lone = std::clamp(alone / std::max(inner, 1.0), kLeastLone, kMostLone);

  std::vector<std::vector<double>> by_frame(at(points.frames()));
  std::vector<std::vector<double>> by_lag(at(lags));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Index j = linking.next[i];
    if (j >= 0 && points.slot[at(j)] == points.slot[i] + 1)
      by_frame[at(points.slot[i])].push_back(
          length_of(residual(points, prediction, static_cast<Index>(i), j)));
  }
  const double median_per_scale = student_median(points.dims);
  std::vector<double> scales = before.scale;
  const double typical = quantile(scales, 0.5);
  model.scale = smooth_scales(by_frame, median_per_scale, kLeastScalePerSpacing * points.spacing_um, typical);
  for_each_lagged(points, linking, lags, [&](Index i, Index j, int lag) {
    by_lag[at(lag) - 1].push_back(length_of(residual(points, prediction, i, j)) /
                                  model.scale[at(points.slot[at(i)])]);
  });
  for (int k = 1; k <= lags; ++k) {
    std::vector<double>& lengths = by_lag[at(k) - 1];
    if (k > 1 && lengths.size() > 20)
      model.growth[at(k) - 1] = std::max(quantile(lengths, 0.5) / median_per_scale, 1e-3);
    for (double& length : lengths) length /= model.growth[at(k) - 1];
    if (lengths.size() > 20) {
      const double top = std::max(4.0, quantile(lengths, 0.999));
      model.shape[at(k) - 1] = RadialDensity(lengths, points.dims, top);
    }
  }
  return model;
}

}  // namespace motes::tracking
