#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>
#include <motes/tracking/series_velocity.h>

#include "tracking/link/series/rounding.h"

namespace motes::tracking {
namespace {

using matching::Index;

constexpr double kLeastPairs = 30;
/// About this many pairs of successive links are sampled for each lag; pairs with a link over a gap are few,
/// and all are used.
constexpr std::size_t kEnoughPairs = 30'000;
constexpr std::int64_t kBlock = 4096;
constexpr std::size_t kTurningBins = 24;
/// Least gain by the dependence of lengths, in nats per link, beyond the gain by chance.
constexpr double kLeastSpeedGain = 0.02;
constexpr double kTurningPseudo = 0.02, kLeastTurningPseudo = 12;

double cosine(const Vec3& a, const Vec3& b) {
  const double lengths = length_of(a) * length_of(b);
  return lengths > 0 ? std::clamp(dot(a, b) / lengths, -1.0, 1.0) : 0;
}

/// Displacement per frame of the link i -> j, minus the predicted one, and its class.
struct Neighbour {
  Vec3 velocity;
  std::size_t kind = 0;
};
Neighbour neighbour(const SeriesPoints& points, const Prediction& prediction, Index i, Index j) {
  const int lag = points.slot[at(j)] - points.slot[at(i)];
  return {1.0 / lag * residual(points, prediction, i, j), lag > 1 ? std::size_t{1} : std::size_t{0}};
}

/// Displacements on tracks, and the velocity of the neighbouring link of each, in units of the frame's scale.
struct Sample {
  std::vector<Vec3> d, v;
};

Persistence fit(const Sample& sample, int dims) {
  Persistence out;
  if (static_cast<double>(sample.d.size()) < kLeastPairs) return out;
  double dv = 0, vv = 0;
  for (std::size_t k = 0; k < sample.d.size(); ++k)
    dv += dot(sample.d[k], sample.v[k]), vv += dot(sample.v[k], sample.v[k]);
  if (!(vv > 0)) return out;
  out.known = true;
  out.beta = dv / vv;
  std::vector<double> lengths, far, beside, counts(kTurningBins, 0);
  for (std::size_t k = 0; k < sample.d.size(); ++k) {
    far.push_back(length_of(sample.d[k])), beside.push_back(length_of(sample.v[k]));
    lengths.push_back(length_of(sample.d[k] - out.beta * sample.v[k]));
    const double c = cosine(sample.d[k], sample.v[k]);
    counts[std::min(kTurningBins - 1, static_cast<std::size_t>((c + 1) / 2 * kTurningBins))] += 1;
  }
  out.scale = std::max(quantile(lengths, 0.5) / student_median(dims), 1e-3);
  for (double& length : lengths) length /= out.scale;
  out.shape = RadialDensity(lengths, dims, std::max(4.0, quantile(lengths, 0.999)));
  out.turning = TurningDensity(counts, dims);
  out.speed = SpeedDensity(far, beside);
  return out;
}

}  // namespace

TurningDensity::TurningDensity(const std::vector<double>& counts, int dims) {
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double pseudo = std::max(kLeastTurningPseudo, kTurningPseudo * all);
  const auto bins = static_cast<double>(counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    // Random directions: in space cosines are uniform; in the plane angles are; on a line cosines are -1
    // or 1.
    const double low = -1 + 2 * static_cast<double>(k) / bins, high = low + 2 / bins;
    const double share = dims == 3   ? 1 / bins
                         : dims == 2 ? (std::acos(low) - std::acos(std::min(1.0, high))) / std::acos(-1.0)
                                     : (k == 0 || k + 1 == counts.size() ? 0.5 : 1 / bins);
    log_ratio_.push_back(std::log((counts[k] + pseudo * share) / (all + pseudo) / share));
  }
}

double TurningDensity::log_ratio(double cosine) const {
  if (log_ratio_.empty()) return 0;
  const double place = (cosine + 1) / 2 * static_cast<double>(log_ratio_.size()) - 0.5;
  if (place <= 0) return log_ratio_.front();
  const auto k = static_cast<std::size_t>(place);
  if (k + 1 >= log_ratio_.size()) return log_ratio_.back();
  return log_ratio_[k] + (place - static_cast<double>(k)) * (log_ratio_[k + 1] - log_ratio_[k]);
}

double velocity_gain(const VelocityModel& velocity, const SeriesModel& model, int lag, std::size_t side,
                     std::size_t kind, const Vec3& d, const Vec3& v) {
  const Persistence& p = velocity.by_lag[at(lag) - 1][side][kind];
  if (!p.known) return 0;
  if (velocity.form == PersistenceForm::turning)
    return p.turning.log_ratio(cosine(d, v)) +
           p.speed.log_ratio(SpeedDensity::bin_of(length_of(d)), SpeedDensity::bin_of(length_of(v)));
  const double growth = model.growth[at(lag) - 1];
  return p.shape.log_density(length_of(d - p.beta * v) / p.scale) -
         model.shape[at(lag) - 1].log_density(length_of(d) / growth) +
         model.dims * std::log(growth / p.scale);
}

MeetingGains::MeetingGains(const VelocityModel& velocity, const SeriesModel& model)
    : velocity_(velocity), model_(model), scales_(velocity.by_lag.size()) {
  for (std::size_t lag = 0; lag < scales_.size(); ++lag)
    for (std::size_t kind = 0; kind < 2; ++kind)
      scales_[lag][kind] = model.dims * std::log(model.growth[lag] / velocity.by_lag[lag][0][kind].scale);
}

MeetingGains::Leaving MeetingGains::leaving(int lag, const Vec3& d) const {
  const std::size_t k = at(lag) - 1;
  const double length = length_of(d);
  return {d, k, length, model_.shape[k].log_density(length / model_.growth[k]),
          velocity_.form == PersistenceForm::turning ? SpeedDensity::bin_of(length) : 0};
}

double MeetingGains::operator()(const Leaving& out, const Arriving& in) const {
  const Persistence& p = velocity_.by_lag[out.lag][0][in.kind];
  if (!p.known) return 0;
  if (velocity_.form == PersistenceForm::turning) {
    const double lengths = out.length * in.length;
    return p.turning.log_ratio(lengths > 0 ? std::clamp(dot(out.d, in.v) / lengths, -1.0, 1.0) : 0) +
           p.speed.log_ratio(out.bin, in.bin);
  }
  return p.shape.log_density(length_of(out.d - p.beta * in.v) / p.scale) - out.plain +
         scales_[out.lag][in.kind];
}

namespace {

/// [lags][side][class]
using Samples = std::vector<std::array<std::array<Sample, 2>, 2>>;

Samples samples_of(const SeriesPoints& points, const Prediction& prediction, const SeriesModel& model,
                   const SeriesLinking& linking, std::int32_t t) {
  Samples out(at(model.lags()));
  const double unit = 1 / model.scale[at(t)];
  const auto step = static_cast<Index>(std::max<std::size_t>(1, points.size() / kEnoughPairs));
  for (Index first = points.offset[at(t)]; first < points.offset[at(t) + 1]; ++first)
    for_each_lagged(points, linking, model.lags(), first, [&](Index i, Index j, int lag) {
      const auto add = [&](std::size_t side, Index from, Index to) {
        const bool over_gap = points.slot[at(to)] - points.slot[at(from)] > 1;
        if (!over_gap && first % step != 0) return;
        const Neighbour beside = neighbour(points, prediction, from, to);
        Sample& s = out[at(lag) - 1][side][beside.kind];
        s.d.push_back(unit * spread(points, residual(points, prediction, i, j), i, j));
        s.v.push_back(unit * beside.velocity);
      };
      if (const Index p = linking.previous[at(i)]; p >= 0) add(0, p, i);
      if (const Index q = linking.next[at(j)]; q >= 0) add(1, j, q);
    });
  return out;
}

/// The samples of all frames in one, in order.
Sample pooled(std::vector<Samples>& frames, std::size_t lag, std::size_t side, std::size_t kind) {
  Sample out;
  for (Samples& frame : frames) {
    Sample& s = frame[lag][side][kind];
    out.d.insert(out.d.end(), s.d.begin(), s.d.end());
    out.v.insert(out.v.end(), s.v.begin(), s.v.end());
    s = {};
  }
  return out;
}

/// Mean gain of links over one frame, summed in blocks so that it does not depend on the number of threads.
double mean_gain(int threads, const VelocityModel& velocity, const SeriesModel& model, const Sample& links) {
  if (links.d.empty()) return 0;
  const auto n = static_cast<std::int64_t>(links.d.size());
  std::vector<double> sums(at((n + kBlock - 1) / kBlock), 0);
  parallel_for(threads, std::ssize(sums), [&](std::int64_t b) {
    for (std::int64_t k = b * kBlock; k < std::min(n, (b + 1) * kBlock); ++k)
      sums[at(b)] += velocity_gain(velocity, model, 1, 0, 0, links.d[at(k)], links.v[at(k)]);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(n);
}

VelocityModel without_speeds(VelocityModel model) {
  for (auto& of_lag : model.by_lag)
    for (auto& of_side : of_lag)
      for (Persistence& p : of_side) p.speed = {};
  return model;
}

}  // namespace

VelocityModel fit_velocity(const Execution& execution, const SeriesPoints& points,
                           const Prediction& prediction, const SeriesModel& model,
                           const SeriesLinking& linking) {
  const int threads = thread_count(execution);
  std::vector<Samples> frames(at(points.frames()));
  parallel_for(threads, points.frames(), [&](std::int64_t t) {
    frames[at(t)] = samples_of(points, prediction, model, linking, static_cast<std::int32_t>(t));
  });
  VelocityModel out;
  out.by_lag.resize(at(model.lags()));
  Sample links;
  parallel_for(threads, std::int64_t{4} * model.lags(), [&](std::int64_t task) {
    const std::size_t lag = at(task) / 4, side = at(task) / 2 % 2, kind = at(task) % 2;
    Sample sample = pooled(frames, lag, side, kind);
    out.by_lag[lag][side][kind] = fit(sample, points.dims);
    if (task == 0) links = std::move(sample);
  });
  const auto count = static_cast<double>(std::max<std::size_t>(links.d.size(), 1));
  out.gain = mean_gain(threads, out, model, links);
  // The form without dependence of lengths is simpler, so lengths must gain more than by chance.
  VelocityModel with_speeds = out, turning = without_speeds(out);
  with_speeds.form = turning.form = PersistenceForm::turning;
  turning.gain = mean_gain(threads, turning, model, links);
  with_speeds.gain = mean_gain(threads, with_speeds, model, links);
  const double by_chance = out.by_lag[0][0][0].speed.parameters() / count;
  if (turning.gain > out.gain) out = std::move(turning);
  if (with_speeds.gain > out.gain + by_chance + kLeastSpeedGain) out = std::move(with_speeds);
  return out;
}

std::vector<double> velocity_gains(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model,
                                   const VelocityModel& velocity, const SeriesLinking& linking,
                                   const SeriesCandidates& candidates) {
  std::vector<double> gains(candidates.to.size(), 0);
  const auto n = static_cast<std::int64_t>(points.size());
  parallel_for(thread_count(execution), (n + kBlock - 1) / kBlock, [&](std::int64_t b) {
    for (std::int64_t row = b * kBlock; row < std::min(n, (b + 1) * kBlock); ++row) {
      const auto i = static_cast<Index>(row), p = linking.previous[at(i)];
      const double unit = 1 / model.scale[at(points.slot[at(i)])];
      const Neighbour before = p >= 0 ? neighbour(points, prediction, p, i) : Neighbour{};
      for (auto e = at(candidates.row_offsets[at(i)]); e < at(candidates.row_offsets[at(i) + 1]); ++e) {
        const Index j = candidates.to[e], q = linking.next[at(j)];
        const int lag = points.slot[at(j)] - points.slot[at(i)];
        const Vec3 d = unit * residual(points, prediction, i, j);
        const auto add = [&](std::size_t side, const Neighbour& beside) {
          gains[e] += velocity_gain(velocity, model, lag, side, beside.kind, d, unit * beside.velocity);
        };
        if (p >= 0) add(0, before);
        if (q >= 0) add(1, neighbour(points, prediction, j, q));
      }
    }
  });
  return gains;
}

}  // namespace motes::tracking
