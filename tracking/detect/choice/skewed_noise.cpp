/// Draws a frame of noise with the distribution of the frame's finest detail and scores its maxima and
/// minima.

#include "tracking/detect/choice/skewed_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <motes/base/hash.h>
#include <motes/base/index.h>

#include "tracking/detect/choice/selection.h"
#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/evidence/evidence.h"
#include "tracking/detect/maxima/maxima.h"

namespace motes::tracking::detect {
namespace {

constexpr std::int64_t kDrawn = 1 << 16;                     // about the number of sampled details
constexpr std::int64_t kMost = 1 << 17, kFewest = 1 << 15;   // voxels of the frame of noise
constexpr std::int64_t kLeast = 1 << 12;                     // fewest voxels of a frame
constexpr double kWidest = 3;                                // sigma
constexpr std::array<std::size_t, 4> kRanks{8, 12, 16, 24};  // ranks of the highest scores that are compared
constexpr double kClippedShare = 0.2;                        // least share of voxels of the lowest value
// Ratio of the maxima's median to the minima's 90th percentile; white noise: 0.44.
constexpr double kClippedSkew = 0.6;
constexpr std::size_t kFewestScores = 20;

/// About kDrawn voxels, each minus the mean of its neighbours along all axes.
template <class T>
std::vector<float> finest_detail(std::span<const T> voxels, const Shape3& s) {
  const std::array<std::int64_t, 3> size{s.nx, s.ny, s.nz}, stride{1, s.nx, s.nx * s.ny};
  const std::int64_t step = std::max<std::int64_t>(1, s.voxels() / kDrawn) | 1;
  std::vector<float> detail;
  for (std::int64_t i = 0; i < s.voxels(); i += step) {
    const std::array<std::int64_t, 3> place{i % s.nx, i / s.nx % s.ny, i / (s.nx * s.ny)};
    double sum = 0;
    int neighbours = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      if (place[a] == 0 || place[a] + 1 == size[a]) continue;
      sum += static_cast<double>(voxels[at(i - stride[a])]) + static_cast<double>(voxels[at(i + stride[a])]);
      neighbours += 2;
    }
    if (neighbours > 0)
      detail.push_back(static_cast<float>(static_cast<double>(voxels[at(i)]) - sum / neighbours));
  }
  return detail;
}

/// The shape of the frame of noise, with as many planes as the frame, up to 32.
Shape3 shape_of_sample(const Shape3& s) {
  const std::int64_t nz = std::min<std::int64_t>(s.nz, 32), voxels = std::clamp(s.voxels(), kFewest, kMost);
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(voxels / nz)));
  return {nz, s.ny > 1 ? side : 1, s.ny > 1 ? side : voxels / nz};
}

}  // namespace

double skew_of_noise(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                     Polarity polarity) {
  if (frame.shape.voxels() < kLeast) return 1;
  if (*std::max_element(filter.sigma.begin(), filter.sigma.end()) > kWidest) return 1;
  const std::vector<float> detail =
      visit_voxels(frame.voxels, [&](const auto& voxels) { return finest_detail(voxels, frame.shape); });
  VolumeFrame noise;
  noise.shape = shape_of_sample(frame.shape);
  noise.voxel_um = frame.voxel_um;
  std::vector<float> values(at(noise.shape.voxels()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = detail[splitmix64(i) % detail.size()];
  noise.voxels = std::move(values);
  const ValueRange range = check_frame(execution, noise);
  if (!(range.high > range.low)) return 1;
  const Response response(execution, noise, filter, polarity, range.low);
  const float floor = rounding_floor(filter, range);
  const std::vector<Voxel> maxima = local_maxima(execution, response, floor);
  std::vector<double> scores;
  for (const Evidence& e :
       evidence_at(execution, noise, filter, response, polarity, maxima, Side::maxima, {}))
    if (e.is_round()) scores.push_back(e.score);
  if (scores.size() < 4 * kRanks.back()) return 1;
  std::sort(scores.begin(), scores.end());
  const NoiseScores white{1, static_cast<double>(scores.size())};
  double sum = 0;
  for (const std::size_t rank : kRanks)
    sum += scores[scores.size() - rank] / false_alarm_level(white, static_cast<double>(rank) - 0.5);
  return std::max(1.0, sum / static_cast<double>(kRanks.size()));
}

Clipping clipping_of(const VolumeFrame& frame, std::span<const double> maxima,
                     std::span<const double> minima) {
  if (maxima.size() < kFewestScores || minima.size() < kFewestScores) return Clipping::none;
  const double high = kClippedSkew * percentile(minima, 0.9);
  const bool all = percentile(maxima, 0.5) >= high;
  const std::span<const double> scored(std::upper_bound(maxima.begin(), maxima.end(), 0.0), maxima.end());
  if (!all && (scored.size() < kFewestScores || percentile(scored, 0.5) < high)) return Clipping::none;
  if (share_of_lowest(frame) <= kClippedShare) return Clipping::none;
  return all ? Clipping::noise : Clipping::smoothed_noise;
}

bool spots_are_most(std::span<const LikelySpot> maxima, const Levels& levels, int dimensions) {
  std::vector<double> all, taken;
  for (const LikelySpot& m : maxima) {
    all.push_back(m.response);
    if (levels.take(m.is_round, m.spot.score, m.response)) taken.push_back(m.response);
  }
  const auto alike = [&](std::vector<double>& responses) {
    std::sort(responses.begin(), responses.end());
    return level_of_alike(responses, dimensions, 0).has_value();
  };
  return alike(all) || (2 * taken.size() >= all.size() && alike(taken));
}

}  // namespace motes::tracking::detect
