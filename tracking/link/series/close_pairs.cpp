#include "tracking/link/series/close_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

#include "tracking/candidates/row_grid.h"
#include "tracking/score/gate_grid.h"

namespace motes::tracking {
namespace {

using matching::Index;

constexpr std::int32_t kMostBlocks = 6;
constexpr std::size_t kLeastOfBlock = 3000, kSampleOfBlock = 4000;
/// The pair correlation g(r) is measured up to kSpacings spacings, in kBinsOfSpacing bins per spacing. The
/// mean of its last quarter is its level.
constexpr std::size_t kSpacings = 3, kBinsOfSpacing = 12, kBins = kSpacings * kBinsOfSpacing;
/// A peak of false detections has at least this height and is nearer than this many spacings; the minimum
/// behind it is lower by at least this factor and nearer than this many spacings.
constexpr double kLeastPeak = 3, kFarthestPeak = 0.6, kLeastDrop = 2.5, kFarthestMinimum = 1.5;
/// Every kGlance-th frame is looked at first, if these are at least kFramesToGlance: without a peak of
/// kGlancedPeak there, there is none.
constexpr std::size_t kGlance = 4, kFramesToGlance = 3;
constexpr double kGlancedPeak = 1.5;
constexpr double kRowPerSpacing = 1;
/// Least number of pairs within the peak.
constexpr double kLeastPairs = 100;
/// If detections have more others than this within the radius on average, these are not false detections
/// around a particle.
constexpr double kMostWithin = 64;

using Bins = std::array<double, kBins>;

/// A smoothed pair correlation, and its level at long range.
struct Correlation {
  Bins smooth{};
  double level = 0;
  /// The bin of the highest value at short range.
  std::size_t peak() const {
    constexpr auto kFarthest = static_cast<std::ptrdiff_t>(kFarthestPeak * kBinsOfSpacing);
    return at(std::max_element(smooth.begin(), smooth.begin() + kFarthest) - smooth.begin());
  }
};

Correlation correlation_of(const Bins& pairs, int dims) {
  Correlation out;
  Bins g{};
  for (std::size_t k = 0; k < kBins; ++k)
    g[k] = pairs[k] /
           (ball_volume(dims, static_cast<double>(k + 1)) - ball_volume(dims, static_cast<double>(k)));
  for (std::size_t k = 0; k < kBins; ++k)
    out.smooth[k] = 0.25 * g[k > 0 ? k - 1 : 0] + 0.5 * g[k] + 0.25 * g[std::min(k + 1, kBins - 1)];
  out.level =
      std::accumulate(out.smooth.end() - kBins / 4, out.smooth.end(), 0.0) / static_cast<double>(kBins / 4);
  return out;
}

/// The first minimum of g behind a short-range peak, in units of the last bin's end; 0: no such peak.
double first_minimum(const Bins& pairs, int dims) {
  const Correlation correlation = correlation_of(pairs, dims);
  const auto& [smooth, level] = correlation;
  const std::size_t peak = correlation.peak();
  const double within =
      std::accumulate(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(peak) + 1, 0.0);
  if (!(level > 0) || smooth[peak] < kLeastPeak * level || within < kLeastPairs) return 0;
  for (std::size_t k = peak + 1; k <= static_cast<std::size_t>(kFarthestMinimum * kBinsOfSpacing); ++k)
    if (smooth[k] <= smooth[k + 1])
      return smooth[k] * kLeastDrop < smooth[peak] ? static_cast<double>(k) + 0.5 : 0;
  return 0;
}

/// Pairs by distance around every `step`-th detection of these frames, of which there are `sampled`.
Bins pairs_in(const SeriesPoints& points, const std::vector<std::int32_t>& frames, double spacing,
              std::size_t step, std::size_t& sampled) {
  const double reach = static_cast<double>(kSpacings) * spacing;
  Bins pairs{};
  std::size_t number = 0;
  sampled = 0;
  for (const std::int32_t t : frames) {
    const auto frame = points.frame(t);
    if (frame.size() < 2) continue;
    const RowGrid grid(frame, kRowPerSpacing * spacing);
    for (std::size_t k = 0; k < frame.size(); ++k) {
      if (number++ % step != 0) continue;
      ++sampled;
      grid.for_each_within(frame[k], reach, [&](std::size_t other, double squared) {
        // Detections at the same place are not pairs.
        const double distance = std::sqrt(squared);
        const auto bin = static_cast<std::size_t>(distance / reach * static_cast<double>(kBins));
        if (other != k && distance > 0 && bin < kBins) pairs[bin] += 1;
      });
    }
  }
  return pairs;
}

/// Exclusion radius of a block of frames; 0: none.
double radius_of(const SeriesPoints& points, const std::vector<std::int32_t>& frames) {
  std::vector<double> densities;
  std::size_t all = 0;
  for (const std::int32_t t : frames) {
    if (points.frame(t).size() > 1) densities.push_back(points.density[at(t)]);
    all += points.frame(t).size();
  }
  if (densities.empty() || all < kLeastOfBlock) return 0;
  const double spacing = std::pow(quantile(densities, 0.5), -1.0 / points.dims);
  const std::size_t step = std::max<std::size_t>(1, all / kSampleOfBlock);
  std::size_t sampled = 0;
  if (frames.size() >= kFramesToGlance * kGlance) {
    std::vector<std::int32_t> some;
    for (std::size_t k = 0; k < frames.size(); k += kGlance) some.push_back(frames[k]);
    const Correlation seen = correlation_of(pairs_in(points, some, spacing, step, sampled), points.dims);
    if (!(seen.smooth[seen.peak()] > kGlancedPeak * seen.level)) return 0;
  }
  const Bins pairs = pairs_in(points, frames, spacing, step, sampled);
  const double minimum = first_minimum(pairs, points.dims);
  const double within =
      std::accumulate(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(minimum), 0.0);
  if (within > kMostWithin * static_cast<double>(sampled)) return 0;
  return minimum / static_cast<double>(kBinsOfSpacing) * spacing;
}

}  // namespace

std::vector<std::int32_t> frame_blocks(const SeriesPoints& points) {
  const auto blocks =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(points.size() / kLeastOfBlock), 1, kMostBlocks);
  std::vector<std::int32_t> out;
  for (std::int32_t t = 0; t < points.frames(); ++t)
    out.push_back(static_cast<std::int32_t>(std::min<std::int64_t>(
        blocks - 1, points.offset[at(t) + 1] * blocks / (static_cast<std::int64_t>(points.size()) + 1))));
  return out;
}

std::vector<double> exclusion_radii(const SeriesPoints& points, const Execution& execution) {
  const std::vector<std::int32_t> block = frame_blocks(points);
  std::vector<double> out(at(points.frames()), 0.0);
  if (points.size() == 0) return out;
  const auto blocks = at(block.back()) + 1;
  std::vector<std::vector<std::int32_t>> frames(blocks);
  for (std::int32_t t = 0; t < points.frames(); ++t) frames[at(block[at(t)])].push_back(t);
  std::vector<double> radius(blocks), detections(blocks, 0.0);
  double with_radius = 0;
  parallel_for(thread_count(execution), std::ssize(radius),
               [&](std::int64_t b) { radius[at(b)] = radius_of(points, frames[at(b)]); });
  for (std::size_t b = 0; b < blocks; ++b) {
    for (const std::int32_t t : frames[b]) detections[b] += static_cast<double>(points.frame(t).size());
    if (radius[b] > 0) with_radius += detections[b];
  }
  if (2 * with_radius < static_cast<double>(points.size())) return out;
  for (std::size_t b = 0; b < blocks; ++b) {
    double own = radius[b];
    for (std::size_t away = 1; own == 0 && away < blocks; ++away) {
      if (b >= away) own = radius[b - away];
      if (own == 0 && b + away < blocks) own = radius[b + away];
    }
    for (const std::int32_t t : frames[b]) out[at(t)] = own;
  }
  return out;
}

CloseNeighbours close_neighbours(const Execution& execution, const SeriesPoints& points,
                                 std::vector<double> radius) {
  CloseNeighbours out;
  out.offsets.assign(points.size() + 1, 0);
  std::vector<std::vector<Index>> index(radius.size());
  std::vector<std::vector<double>> distance(radius.size());
  parallel_for(thread_count(execution), points.frames(), [&](std::int64_t slot) {
    const auto t = at(slot);
    const auto frame = points.frame(static_cast<std::int32_t>(slot));
    if (!(radius[t] > 0) || frame.empty()) return;
    const detail::GateGrid grid(std::vector<Vec3>(frame.begin(), frame.end()), kNeighbourhood * radius[t]);
    std::vector<std::pair<Index, double>> near;
    for (std::size_t k = 0; k < frame.size(); ++k) {
      near.clear();
      grid.for_each_within(frame[k], [&](std::size_t other, double away) {
        if (other != k) near.emplace_back(points.offset[t] + static_cast<Index>(other), away / radius[t]);
      });
      std::sort(near.begin(), near.end());
      out.offsets[at(points.offset[t]) + k + 1] = static_cast<std::int64_t>(near.size());
      for (const auto& [other, away] : near) index[t].push_back(other), distance[t].push_back(away);
    }
  });
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  for (std::size_t t = 0; t < radius.size(); ++t) {
    out.index.insert(out.index.end(), index[t].begin(), index[t].end());
    out.distance.insert(out.distance.end(), distance[t].begin(), distance[t].end());
  }
  out.radius = std::move(radius);
  return out;
}

std::vector<double> centrality(const SeriesPoints& points, const CloseNeighbours& close) {
  constexpr double kCounted = 0.6, kOfCentroid = 0.8;
  std::vector<double> out(points.size(), 0.0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    double count = 0, all = 1;
    Vec3 sum{};
    for (auto e = at(close.offsets[i]); e < at(close.offsets[i + 1]); ++e) {
      const Vec3 &p = points.at[at(close.index[e])], &q = points.at[i];
      count += close.distance[e] <= kCounted;
      if (close.distance[e] > kOfCentroid) continue;
      all += 1;
      sum = {sum.x + (p.x - q.x), sum.y + (p.y - q.y), sum.z + (p.z - q.z)};
    }
    const double radius = close.radius[at(points.slot[i])];
    const double off = std::sqrt((sum.x * sum.x + sum.y * sum.y) + sum.z * sum.z) / all;
    out[i] = radius > 0 ? count - off / radius : 0;
  }
  return out;
}

std::vector<char> suppress_close(const SeriesPoints& points, const CloseNeighbours& close,
                                 const std::vector<double>& score, const std::vector<double>& tie) {
  std::vector<char> kept(points.size(), 1);
  std::vector<Index> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::int32_t t = 0; t < points.frames(); ++t)
    std::sort(order.begin() + points.offset[at(t)], order.begin() + points.offset[at(t) + 1],
              [&](Index a, Index b) {
                return std::tuple(-score[at(a)], -tie[at(a)], points.hash[at(a)]) <
                       std::tuple(-score[at(b)], -tie[at(b)], points.hash[at(b)]);
              });
  for (const Index i : order) {
    if (kept[at(i)] == 0) continue;
    for (auto e = at(close.offsets[at(i)]); e < at(close.offsets[at(i) + 1]); ++e)
      if (close.distance[e] < 1) kept[at(close.index[e])] = 0;
  }
  return kept;
}

}  // namespace motes::tracking
