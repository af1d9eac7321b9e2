/// Asymmetry. The rank-sum test of Mann and Whitney (1947) compares the responses of maxima and of minima,
/// both beyond white noise. Noise and Gaussian textures have both alike, whatever their colour.
///
/// Level. From the highest response down, the widest gap is taken below which lies what could be noise: the
/// response above it is out of reach of a Rayleigh tail with the median and the upper tenth of those below.
/// Without a gap, it is the first valley beyond white noise.

#include "tracking/detect/resolved_spots.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include <motes/base/quantile.h>

#include "tracking/detect/likely_spots.h"
#include "tracking/detect/selection.h"
#include "tracking/detect/threshold.h"

namespace motes::tracking::detect {
namespace {

constexpr double kResolved = 3;        // voxels: least sigma across
constexpr std::size_t kFewest = 8;     // objects, and minima
constexpr double kWideGap = 1.5;       // ratio of the responses above and below
constexpr double kNoiseInFrame = 0.1;  // maxima of white noise
constexpr double kHigher = 1.4;        // median response of maxima over that of minima,
constexpr double kDeviations = 3.5;    // and of the rank sum from chance
constexpr double kLeastRound = 0.25;   // of the objects: filaments have fewer
constexpr double kLeastScore = 0.3;    // of the objects' median
constexpr double kMore = 1.2;          // times as many as without

/// The least of the responses (ascending) above the widest gap that lies beyond `noise`.
std::optional<double> above_gap(std::span<const double> responses, double noise) {
  std::optional<double> least;
  double widest = kWideGap;
  for (std::size_t above = kFewest; above < responses.size(); ++above) {
    const double high = responses[responses.size() - above], low = responses[responses.size() - above - 1];
    if (high < noise) break;
    if (high / low < widest || !beyond_tail(responses, above)) continue;
    widest = high / low;
    least = high;
  }
  return least;
}

/// Whether the values of `a` are clearly higher than those of `b`.
bool are_higher(std::vector<double> a, std::vector<double> b) {
  if (a.size() < kFewest || b.size() < kFewest) return false;
  if (quantile(a, 0.5) < kHigher * quantile(b, 0.5)) return false;
  std::sort(b.begin(), b.end());
  double wins = 0;  // pairs in which that of `a` is higher; ties count half
  for (const double value : a) {
    const auto [low, high] = std::equal_range(b.begin(), b.end(), value);
    wins += 0.5 * static_cast<double>((low - b.begin()) + (high - b.begin()));
  }
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  return wins - n * m / 2 > kDeviations * std::sqrt(n * m * (n + m + 1) / 12);
}

}  // namespace

bool take_resolved(const Filter& filter, const Shape3& shape, const ScoredMaxima& maxima,
                   std::span<const double> depths, std::vector<LikelySpot>& likely) {
  constexpr double kAll = -std::numeric_limits<double>::infinity();
  if (std::min(filter.sigma[0], filter.sigma[1]) < kResolved || maxima.mostly_lowest()) return false;
  std::vector<LikelySpot> all = maxima.take({{kAll, kAll}});
  const double white = noise_level(filter, shape, kNoiseInFrame) * maxima.noise_deviation(1);
  std::vector<double> responses, low;
  responses.reserve(all.size());
  for (const LikelySpot& one : all) responses.push_back(one.response);
  std::sort(responses.begin(), responses.end());
  const auto noise = std::lower_bound(responses.begin(), responses.end(), white);
  std::copy_if(depths.begin(), depths.end(), std::back_inserter(low), [&](double d) { return d >= white; });
  if (!are_higher({noise, responses.end()}, std::move(low))) return false;
  const std::optional<double> gap = above_gap(responses, white);
  const double least = gap ? *gap : first_valley(responses, white);
  std::vector<double> scores;
  std::size_t round = 0;
  for (const LikelySpot& one : all) {
    if (one.response < least) continue;
    scores.push_back(one.spot.score);
    if (one.is_round) ++round;
  }
  if (scores.empty() || static_cast<double>(round) < kLeastRound * static_cast<double>(scores.size()))
    return false;
  const double least_score = kLeastScore * percentile(scores, 0.5);
  for (LikelySpot& one : all) {
    one.taken = one.response >= least && one.spot.score > 0 && one.spot.score >= least_score;
    one.spot.over = one.response / least;
  }
  const auto before = static_cast<double>(count_taken(likely)), after = static_cast<double>(count_taken(all));
  if (after < kMore * before) return false;
  likely = std::move(all);
  return true;
}

}  // namespace motes::tracking::detect
