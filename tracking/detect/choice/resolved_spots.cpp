/// Asymmetry. The rank-sum test of Mann and Whitney (1947) compares the responses of maxima and of minima,
/// both beyond white noise. In noise and Gaussian textures of any correlation both are equally high.
///
/// Level. The lowest response above the widest gap with possible noise below it: the response above the gap
/// is beyond a Rayleigh tail with the median and the upper tenth of those below. Without such a gap, the
/// level is the first valley far beyond white noise. Without one nothing tells objects from a skewed texture,
/// such as speckle.

#include "tracking/detect/choice/resolved_spots.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include <motes/base/quantile.h>

#include "tracking/detect/choice/likely_spots.h"
#include "tracking/detect/choice/selection.h"
#include "tracking/detect/choice/threshold.h"

namespace motes::tracking::detect {
namespace {

constexpr double kResolved = 3;        // least sigma in xy, in voxels
constexpr std::size_t kFewest = 8;     // fewest objects and fewest minima
constexpr double kWideGap = 1.5;       // least ratio of the responses above and below
constexpr double kNoiseInFrame = 0.1;  // expected number of maxima of white noise over the level
constexpr double kHigher = 1.4;        // least ratio of the median responses of maxima and minima,
constexpr double kDeviations = 3.5;    // and least deviation of the rank sum, in standard deviations
constexpr double kLeastRound = 0.25;   // least share of round objects; filaments have fewer
constexpr double kLeastScore = 0.3;    // least score, relative to the objects' median
constexpr double kMore = 1.2;          // least ratio of the number of spots with and without this rule

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
  double wins = 0;  // pairs in which the value of `a` is higher; ties count half
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
  if (!gap && least < kWideGap * white) return false;
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
