#include <algorithm>
#include <cmath>
#include <cstddef>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>
#include <motes/tracking/series_model.h>

#include "tracking/link/series/gap_shares.h"
#include "tracking/link/series/length_windows.h"
#include "tracking/link/series/rounding.h"
#include "tracking/motion/near_points.h"

namespace motes::tracking {
namespace {

using matching::Index;

/// A scale is the median over the surrounding frames that hold this many links.
constexpr std::size_t kScaleSample = 300;
constexpr std::int32_t kLeastHalfWindow = 2;
/// Each frame has its own scale if most differ from those around them by at least this (logarithm, beyond
/// chance), since the times between frames differ. If a few do, particles may have moved together there.
constexpr double kUnequal = 0.25;
/// Fewest lengths for a scale, and fewest frames to see whether they differ.
constexpr std::size_t kLeastLengths = 8;
constexpr std::size_t kLeastFrames = 3;
/// Densities are fitted to about this many displacements.
constexpr std::size_t kEnoughLengths = 30'000;
/// Least scale in spacings, so that exactly repeated positions do not make all other displacements
/// impossible.
constexpr double kLeastScalePerSpacing = 0.005;
/// The reach is limited so that chance offers a detection at most this many links.
constexpr double kMostByChance = 48;

double beyond(const std::vector<double>& elapsed, std::int32_t frames) {
  double sum = 0;
  for (std::size_t k = at(std::max<std::int32_t>(frames, 0)); k < elapsed.size(); ++k) sum += elapsed[k];
  return sum;
}

/// The logarithm of a frame's median length, and its variance.
struct LogMedian {
  double value = 0, variance = HUGE_VAL;
};

LogMedian log_median(std::vector<double> lengths) {
  if (lengths.size() < kLeastLengths) return {};
  const auto n = static_cast<double>(lengths.size());
  const double low = quantile(lengths, 0.35), middle = quantile(lengths, 0.5), high = quantile(lengths, 0.65);
  if (!(low > 0)) return {};
  // The variance of a median is 1 / (4 n f^2) for the density f there.
  const double density = 0.3 / std::log(high / low);
  return {std::log(middle), 1 / (4 * n * density * density)};
}

/// Multiplies the scales of frames by the ratios between their own and those of the surrounding frames, if
/// these differ; less where a frame has few lengths.
void separate_scales(const std::vector<std::vector<double>>& lengths, double median_per_scale, double least,
                     std::vector<double>& scales) {
  std::vector<LogMedian> own(scales.size());
  std::vector<double> beyond_chance;
  for (std::size_t t = 0; t < scales.size(); ++t) {
    own[t] = log_median(lengths[t]);
    own[t].value -= std::log(scales[t] * median_per_scale);
    if (own[t].variance == HUGE_VAL) continue;
    beyond_chance.push_back(own[t].value * own[t].value - own[t].variance);
  }
  if (beyond_chance.size() < kLeastFrames) return;
  const double variance = quantile(beyond_chance, 0.5);
  if (variance < kUnequal * kUnequal) return;
  for (std::size_t t = 0; t < scales.size(); ++t)
    if (own[t].variance < HUGE_VAL)
      scales[t] =
          std::max(scales[t] * std::exp(own[t].value * variance / (variance + own[t].variance)), least);
}

/// Scales by frame, from residual lengths of links over one frame by the frame where they start.
std::vector<double> smooth_scales(const Execution& execution, const std::vector<std::vector<double>>& lengths,
                                  double median_per_scale, double least, double otherwise) {
  const LengthWindows windows(
      lengths.size(), [&](std::size_t t) -> const auto& { return lengths[t]; });
  std::vector<double> scales(lengths.size(), otherwise);
  parallel_for(thread_count(execution), std::ssize(lengths), [&](std::int64_t t) {
    std::vector<double> window = windows.around(t, kLeastHalfWindow, kScaleSample);
    if (window.size() >= kLeastLengths)
      scales[at(t)] = std::max(quantile(window, 0.5) / median_per_scale, least);
  });
  separate_scales(lengths, median_per_scale, least, scales);
  return scales;
}

}  // namespace

std::int64_t SeriesLinking::links() const {
  return std::count_if(next.begin(), next.end(), [](Index j) { return j >= 0; });
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
double SeriesModel::clutter_cost(double density) const { return -std::log(density * clutter); }
double SeriesModel::clutter_cost(const SeriesPoints& points, Index i) const {
  const double density = points.density_at(at(i));
  return points.log_odds.empty() ? clutter_cost(density) : points.log_odds[at(i)] - std::log(density);
}

double SeriesModel::reach(const SeriesPoints& points, std::int32_t slot, int lag,
                          std::int32_t frames_before) const {
  const std::int32_t to = slot + lag;
  const double density = points.least_density(to);
  const double most_cost = end_cost(points.frames() - 1 - slot) + birth_cost(density, to + frames_before);
  const double s = scale_of(slot, lag);
  const double level = dims * std::log(s) - std::log(elapsed[at(lag) - 1] * (1 - end)) - most_cost;
  const double by_chance =
      std::pow(kMostByChance / (density * ball_volume(points.dims, 1)), 1.0 / points.dims);
  return std::min(s * shape[at(lag) - 1].reach(level), by_chance);
}

namespace {

/// Distances of mutual nearest neighbours of frames t and t + 1, beyond the prediction.
std::vector<double> mutual_lengths(const SeriesPoints& points, const Prediction& prediction, std::int32_t t) {
  std::vector<double> out;
  const auto from = points.frame(t), to = points.frame(t + 1);
  if (from.empty() || to.empty()) return out;
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
    if (back != k) continue;
    const Vec3 d{to[there].x - moved[k].x, to[there].y - moved[k].y, to[there].z - moved[k].z};
    out.push_back(length_of(spread(points, d, points.offset[at(t)] + static_cast<Index>(k),
                                   points.offset[at(t) + 1] + static_cast<Index>(there))));
  }
  return out;
}

}  // namespace

SeriesModel first_model(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                        int lags) {
  SeriesModel model;
  model.dims = points.dims;
  const double median_per_scale = student_median(points.dims);
  std::vector<std::vector<double>> lengths(at(points.frames()));
  parallel_for(thread_count(execution), points.frames() - 1, [&](std::int64_t t) {
    lengths[at(t)] = mutual_lengths(points, prediction, static_cast<std::int32_t>(t));
  });
  std::vector<double> all;
  for (const auto& of_frame : lengths) all.insert(all.end(), of_frame.begin(), of_frame.end());
  const double least = kLeastScalePerSpacing * points.spacing_um;
  const double typical =
      all.empty() ? 0.2 * points.spacing_um : std::max(quantile(all, 0.5) / median_per_scale, least);
  model.scale = smooth_scales(execution, lengths, median_per_scale, least, typical);
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

SeriesModel fit_model(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                      const SeriesLinking& linking, const SeriesModel& before, const VelocityModel* velocity,
                      const Occlusion* occlusion) {
  SeriesModel model = before;
  const int lags = before.lags(), threads = thread_count(execution);
  const auto frames = at(points.frames());
  std::vector<TrackCounts> counts(frames);
  std::vector<std::vector<double>> by_frame(frames);
  parallel_for(threads, points.frames(), [&](std::int64_t slot) {
    const auto t = static_cast<std::int32_t>(slot);
    counts[at(t)] = count_tracks(points, linking, lags, t);
    for (Index i = points.offset[at(t)]; i < points.offset[at(t) + 1]; ++i)
      if (const Index j = linking.next[at(i)]; j >= 0 && points.slot[at(j)] == t + 1)
        by_frame[at(t)].push_back(length_of(spread(points, residual(points, prediction, i, j), i, j)));
  });
  const double median_per_scale = student_median(points.dims);
  std::vector<double> scales = before.scale;
  const double typical = quantile(scales, 0.5);
  model.scale = smooth_scales(execution, by_frame, median_per_scale,
                              kLeastScalePerSpacing * points.spacing_um, typical);
  std::vector<double> now = model.scale;
  const double middle = quantile(now, 0.5);
  const double least_growth = middle > 0 ? kLeastScalePerSpacing * points.spacing_um / middle : 1;
  std::vector<std::vector<std::vector<double>>> found(frames);
  const auto step = static_cast<Index>(std::max<std::size_t>(1, points.size() / kEnoughLengths));
  parallel_for(threads, points.frames(), [&](std::int64_t t) {
    found[at(t)].resize(at(lags));
    const Index first = (points.offset[at(t)] + step - 1) / step * step;
    for (Index i = first; i < points.offset[at(t) + 1]; i += step)
      for_each_lagged(points, linking, lags, i, [&](Index from, Index j, int lag) {
        const Vec3 d = spread(points, residual(points, prediction, from, j), from, j);
        found[at(t)][at(lag) - 1].push_back(length_of(d) / model.scale[at(t)]);
      });
  });
  parallel_for(threads, lags, [&](std::int64_t lag) {
    const auto k = at(lag);
    std::vector<double> lengths;
    for (auto& of_frame : found) {
      lengths.insert(lengths.end(), of_frame[k].begin(), of_frame[k].end());
      std::vector<double>().swap(of_frame[k]);
    }
    // For particles at rest, both scales are at the least scale: displacements over one and more frames must
    // not differ.
    if (k > 0 && lengths.size() > 20)
      model.growth[k] = std::max(quantile(lengths, 0.5) / median_per_scale, std::max(1e-3, least_growth));
    for (double& length : lengths) length /= model.growth[k];
    if (lengths.size() > 20) {
      const double top = std::max(4.0, quantile(lengths, 0.999));
      model.shape[k] = RadialDensity(lengths, points.dims, top);
    }
  });
  set_shares(execution, points, prediction, linking, velocity, occlusion, counts, model);
  return model;
}

namespace {
Execution one_thread() {
  Execution out;
  out.threads = 1;
  return out;
}
}  // namespace

SeriesModel first_model(const SeriesPoints& points, const Prediction& prediction, int lags) {
  return first_model(one_thread(), points, prediction, lags);
}

SeriesModel fit_model(const SeriesPoints& points, const Prediction& prediction, const SeriesLinking& linking,
                      const SeriesModel& before) {
  return fit_model(one_thread(), points, prediction, linking, before);
}

}  // namespace motes::tracking
