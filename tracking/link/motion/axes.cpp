#include "tracking/link/motion/axes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <motes/base/index.h>
#include <motes/base/quantile.h>

namespace motes::tracking {
namespace {

using matching::Index;

/// Residuals differ if those of one axis are at least this many times those of another, and if their
/// logarithms differ by this many standard errors.
constexpr double kUnlike = 1.4, kSure = 4;
constexpr std::size_t kLeastLinks = 50, kLeastTracks = 10;
/// This share of the longest residuals is ignored, since it contains jumps and wrong links.
constexpr double kTrimmed = 0.05;
constexpr double kMostRatio = 8;

using Axes = std::array<double, 3>;

Axes axes_of(const Vec3& v) { return {v.x, v.y, v.z}; }

/// The axes along which positions differ.
std::array<bool, 3> used_axes(const SeriesPoints& points) {
  std::array<bool, 3> out{};
  const Axes first = axes_of(points.at.front());
  for (const Vec3& p : points.at) {
    const Axes at = axes_of(p);
    for (std::size_t a = 0; a < 3; ++a) out[a] = out[a] || at[a] != first[a];
  }
  return out;
}

/// A residual: the displacement minus the predicted one and, if there is a link before, minus beta times its
/// displacement.
struct Residual {
  Vec3 length;
  std::size_t track = 0;
};

std::vector<Residual> residuals_of(const SeriesPoints& points, const Prediction& prediction,
                                   const SeriesLinking& linking, double beta, std::size_t& tracks) {
  std::vector<Residual> out;
  std::vector<std::size_t> track(points.size());
  tracks = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Index j = linking.next[i], p = linking.previous[i], from = static_cast<Index>(i);
    track[i] = p >= 0 ? track[at(p)] : tracks++;
    if (j < 0 || points.slot[at(j)] != points.slot[i] + 1) continue;
    Vec3 r = residual(points, prediction, from, j);
    if (beta != 0 && p >= 0)
      r = r - beta / (points.slot[i] - points.slot[at(p)]) * residual(points, prediction, p, from);
    out.push_back({r, track[i]});
  }
  return out;
}

/// Standard error of the logarithm of the ratio of two axes' means. Links of a track are not independent: if
/// a particle moves straight on, they are all long along the same axis.
double error_of_ratio(const std::vector<Axes>& tracks, const Axes& all, std::size_t a, std::size_t b) {
  double squares = 0;
  for (const Axes& one : tracks) {
    const double d = one[a] / all[a] - one[b] / all[b];
    squares += d * d;
  }
  return std::sqrt(squares);
}

}  // namespace

Vec3 axis_factors(const SeriesPoints& points, const Prediction& prediction, const SeriesLinking& linking,
                  double beta) {
  std::size_t tracks = 0;
  const std::vector<Residual> residuals = residuals_of(points, prediction, linking, beta, tracks);
  if (residuals.size() < kLeastLinks || tracks < kLeastTracks) return {1, 1, 1};
  std::vector<double> lengths;
  for (const Residual& r : residuals) lengths.push_back(length_of(r.length));
  const double longest = quantile(lengths, 1 - kTrimmed);
  std::vector<Axes> of_track(tracks, Axes{});
  Axes sum{};
  for (const Residual& r : residuals) {
    if (length_of(r.length) > longest) continue;
    const Axes along = axes_of(r.length);
    for (std::size_t a = 0; a < 3; ++a)
      sum[a] += std::abs(along[a]), of_track[r.track][a] += std::abs(along[a]);
  }
  const std::array<bool, 3> used = used_axes(points);
  std::size_t most = 0, least = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!used[a]) continue;
    if (!used[most] || sum[a] > sum[most]) most = a;
    if (!used[least] || sum[a] < sum[least]) least = a;
  }
  if (!(sum[most] > kUnlike * sum[least])) return {1, 1, 1};
  if (sum[least] > 0 && std::log(sum[most] / sum[least]) < kSure * error_of_ratio(of_track, sum, most, least))
    return {1, 1, 1};
  double logarithms = 0, axes = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!used[a]) continue;
    sum[a] = std::max(sum[a], sum[most] / kMostRatio);
    logarithms += std::log(sum[a]), axes += 1;
  }
  const double middle = std::exp(logarithms / axes);
  for (std::size_t a = 0; a < 3; ++a) sum[a] = used[a] ? middle / sum[a] : 1;
  return {sum[0], sum[1], sum[2]};
}

void scale_axes(const Vec3& factors, SeriesPoints& points) {
  if (alike(factors)) return;
  for (Vec3& p : points.at) p = {factors.x * p.x, factors.y * p.y, factors.z * p.z};
}

}  // namespace motes::tracking
