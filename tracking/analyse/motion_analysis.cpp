#include <algorithm>
#include <array>
#include <map>
#include <span>

#include <motes/base/errors.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/motion_analysis.h>

#include "tracking/analyse/paths.h"

namespace motes::tracking {
namespace {

using analysis::kUnknown;
using analysis::MeanOverTracks;
using analysis::Paths;
using analysis::StepSums;

constexpr std::int32_t kMostSteps = 100;
constexpr std::size_t kLagsOfExponent = 10;

Paths paths_of(const TrackSet& tracks, std::int64_t min_length, std::vector<std::int64_t>& ids) {
  Paths out;
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const auto begin = static_cast<std::size_t>(tracks.track_offsets[t]);
    const auto end = static_cast<std::size_t>(tracks.track_offsets[t + 1]);
    if (static_cast<std::int64_t>(end - begin) < min_length) continue;
    for (std::size_t i = begin; i < end; ++i) {
      out.frame.push_back(tracks.frame[i]);
      out.at.push_back({tracks.x_um[i], tracks.y_um[i], tracks.z_um[i]});
      if (i > begin) least = std::min(least, tracks.frame[i] - tracks.frame[i - 1]);
    }
    out.begin.push_back(out.at.size());
    ids.push_back(tracks.track_id[t]);
  }
  if (least != std::numeric_limits<std::int32_t>::max()) out.step = least;
  for (const auto axis : {&Vec3::x, &Vec3::y, &Vec3::z})
    if (std::any_of(out.at.begin(), out.at.end(), [&](const Vec3& p) { return p.*axis != out.at[0].*axis; }))
      ++out.dims;
  out.dims = std::max(1, out.dims);
  return out;
}

std::vector<DriftFigures> drift_of(const Paths& paths) {
  std::map<std::int32_t, DriftFigures> by_frame;
  for (std::size_t t = 0; t < paths.tracks(); ++t)
    for (std::size_t i = paths.begin[t] + 1; i < paths.begin[t + 1]; ++i) {
      if (paths.frame[i] - paths.frame[i - 1] != paths.step) continue;
      DriftFigures& here = by_frame[paths.frame[i - 1]];
      const Vec3 d = paths.at[i] - paths.at[i - 1];
      ++here.links;
      here.mean.x += d.x, here.mean.y += d.y, here.mean.z += d.z;
    }
  std::vector<DriftFigures> out;
  Vec3 sum{};
  for (auto& [frame, here] : by_frame) {
    const double n = static_cast<double>(here.links);
    here.frame = frame;
    here.mean = {here.mean.x / n, here.mean.y / n, here.mean.z / n};
    sum = {sum.x + here.mean.x, sum.y + here.mean.y, sum.z + here.mean.z};
    here.sum = sum;
    out.push_back(here);
  }
  return out;
}

/// The drift of all particles up to a frame, from the links before it.
Vec3 drifted(const std::vector<DriftFigures>& drifts, std::int32_t frame) {
  const auto next = std::partition_point(drifts.begin(), drifts.end(),
                                         [&](const DriftFigures& d) { return d.frame < frame; });
  return next == drifts.begin() ? Vec3{} : std::prev(next)->sum;
}

LagFigures lag_figures(const Paths& paths, std::int32_t lag) {
  LagFigures out;
  out.lag = lag;
  MeanOverTracks squares;
  double fourth = 0, products = 0, step_squares = 0;
  std::int64_t both = 0;
  for (std::size_t t = 0; t < paths.tracks(); ++t) {
    const std::size_t end = paths.begin[t + 1];
    double sum = 0, count = 0;
    for (std::size_t i = paths.begin[t], j = i; i < end; ++i) {
      while (j < end && paths.frame[j] - paths.frame[i] < lag) ++j;
      if (j == end || paths.frame[j] - paths.frame[i] != lag) continue;
      const Vec3 d = paths.at[j] - paths.at[i];
      const double square = dot(d, d);
      sum += square, ++count, fourth += square * square;
      if (j + 1 >= end || paths.frame[i + 1] - paths.frame[i] != paths.step ||
          paths.frame[j + 1] - paths.frame[j] != paths.step)
        continue;
      const Vec3 first = paths.at[i + 1] - paths.at[i];
      products += dot(first, paths.at[j + 1] - paths.at[j]);
      step_squares += dot(first, first);
      ++both;
    }
    squares.add(sum, count);
  }
  out.pairs = static_cast<std::int64_t>(squares.count());
  out.tracks = squares.tracks();
  out.msd = squares.mean();
  out.msd_error = squares.error();
  const double d = paths.dims;
  out.non_gaussian = out.msd > 0
                         ? d * fourth / static_cast<double>(out.pairs) / ((d + 2) * out.msd * out.msd) - 1
                         : kUnknown;
  out.step_correlation = both > 0 && step_squares > 0 ? products / step_squares : kUnknown;
  return out;
}

std::vector<LagFigures> all_lags(const Execution& execution, const Paths& paths, std::int32_t max_lag) {
  std::int32_t longest = 0;
  for (std::size_t t = 0; t < paths.tracks(); ++t)
    longest = std::max(longest, paths.frame[paths.begin[t + 1] - 1] - paths.frame[paths.begin[t]]);
  const std::int32_t quarter = std::max(1, longest / paths.step / 4);
  const std::int32_t steps =
      max_lag > 0 ? std::min(max_lag, longest) / paths.step : std::min(quarter, kMostSteps);
  std::vector<LagFigures> all(static_cast<std::size_t>(std::max(0, longest > 0 ? steps : 0)));
  parallel_for(thread_count(execution), std::ssize(all), [&](std::int64_t k) {
    all[static_cast<std::size_t>(k)] = lag_figures(paths, static_cast<std::int32_t>(k + 1) * paths.step);
  });
  std::erase_if(all, [](const LagFigures& lag) { return lag.pairs == 0; });
  return all;
}

void fit_exponent(std::span<const LagFigures> lags, MotionFigures& out) {
  out.exponent = out.exponent_error = kUnknown;
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  std::vector<std::array<double, 3>> rows;
  for (const LagFigures& lag : lags.first(std::min(lags.size(), kLagsOfExponent)))
    if (lag.msd > 0)
      rows.push_back(
          {std::log(static_cast<double>(lag.lag)), std::log(lag.msd), static_cast<double>(lag.pairs)});
  if (rows.size() < 3) return;
  for (const auto& [a, b, weight] : rows)
    w += weight, x += weight * a, y += weight * b, xx += weight * a * a, xy += weight * a * b;
  const double spread = xx - x * x / w;
  out.exponent = (xy - x * y / w) / spread;
  double left = 0;
  for (const auto& [a, b, weight] : rows) {
    const double off = b - y / w - out.exponent * (a - x / w);
    left += weight * off * off;
  }
  out.exponent_error = std::sqrt(left / static_cast<double>(rows.size() - 2) / spread);
}

void fit_diffusion(const Paths& paths, MotionFigures& out) {
  StepSums all;
  std::vector<StepSums> each;
  for (std::size_t t = 0; t < paths.tracks(); ++t) {
    each.push_back(step_sums(paths, t));
    all.squares += each.back().squares, all.products += each.back().products;
    all.steps += each.back().steps, all.neighbours += each.back().neighbours;
  }
  out.diffusion = diffusion_of(all, paths.dims, out.interval);
  out.diffusion_error = out.localisation = kUnknown;
  if (!(all.neighbours > 0)) return;
  const double a = all.squares / all.steps, b = all.products / all.neighbours;
  if (b < 0) out.localisation = std::sqrt(-b / paths.dims);
  double sum = 0, tracks = 0;
  for (const StepSums& s : each) {
    if (!(s.steps > 0)) continue;
    const double pull =
        0.5 * (s.squares - a * s.steps) / all.steps + (s.products - b * s.neighbours) / all.neighbours;
    sum += pull * pull, ++tracks;
  }
  if (tracks > 1) out.diffusion_error = std::sqrt(tracks / (tracks - 1) * sum) / (paths.dims * out.interval);
}

TrackFigures track_figures(const Paths& paths, std::size_t t, std::int64_t id, double frame_time,
                           double interval) {
  const std::size_t begin = paths.begin[t], last = paths.begin[t + 1] - 1;
  TrackFigures out;
  out.track_id = id;
  out.points = static_cast<std::int64_t>(last + 1 - begin);
  out.first_frame = paths.frame[begin], out.last_frame = paths.frame[last];
  out.duration = (out.last_frame - out.first_frame) * frame_time;
  out.net = length_of(paths.at[last] - paths.at[begin]);
  Vec3 mean{};
  const double n = static_cast<double>(out.points);
  for (std::size_t i = begin; i <= last; ++i) {
    if (i > begin) out.path += length_of(paths.at[i] - paths.at[i - 1]);
    mean = {mean.x + paths.at[i].x / n, mean.y + paths.at[i].y / n, mean.z + paths.at[i].z / n};
  }
  double squares = 0;
  for (std::size_t i = begin; i <= last; ++i) {
    const Vec3 d = paths.at[i] - mean;
    squares += dot(d, d);
  }
  out.gyration = std::sqrt(squares / n);
  out.speed = out.duration > 0 ? out.path / out.duration : kUnknown;
  out.straightness = out.path > 0 ? out.net / out.path : kUnknown;
  out.diffusion = diffusion_of(step_sums(paths, t), paths.dims, interval);
  return out;
}

}  // namespace

analysis::StepSums analysis::step_sums(const Paths& paths, std::size_t track) {
  StepSums out;
  Vec3 before{};
  bool there = false;
  for (std::size_t i = paths.begin[track] + 1; i < paths.begin[track + 1]; ++i) {
    if (paths.frame[i] - paths.frame[i - 1] != paths.step) {
      there = false;
      continue;
    }
    const Vec3 d = paths.at[i] - paths.at[i - 1];
    out.squares += dot(d, d), ++out.steps;
    if (there) out.products += dot(before, d), ++out.neighbours;
    before = d, there = true;
  }
  return out;
}

double analysis::diffusion_of(const StepSums& sums, int dims, double interval) {
  if (!(sums.neighbours > 0)) return kUnknown;
  return (sums.squares / sums.steps / 2 + sums.products / sums.neighbours) / (dims * interval);
}

MotionFigures analyse_motion(const Execution& execution, const TrackSet& tracks,
                             const AnalysisOptions& options) {
  if (options.max_lag < 0) throw UsageError("the largest lag must not be negative");
  if (options.min_length < 1) throw UsageError("the least length of a track is 1 point");
  std::vector<std::int64_t> ids;
  Paths paths = paths_of(tracks, options.min_length, ids);
  MotionFigures out;
  out.dims = paths.dims, out.step = paths.step;
  const double frame_time = tracks.dt_s.value_or(1);
  out.interval = paths.step * frame_time;
  out.points = std::ssize(paths.at);
  out.drifts = drift_of(paths);
  if (!out.drifts.empty()) {
    const double n = static_cast<double>(out.drifts.size());
    const Vec3& sum = out.drifts.back().sum;
    out.drift = {sum.x / n, sum.y / n, sum.z / n};
  }
  if (options.remove_drift)
    for (std::size_t i = 0; i < paths.at.size(); ++i)
      paths.at[i] = paths.at[i] - drifted(out.drifts, paths.frame[i]);
  out.lags = all_lags(execution, paths, options.max_lag);
  fit_exponent(out.lags, out);
  fit_diffusion(paths, out);
  for (std::size_t t = 0; t < paths.tracks(); ++t)
    out.tracks.push_back(track_figures(paths, t, ids[t], frame_time, out.interval));
  return out;
}

}  // namespace motes::tracking
