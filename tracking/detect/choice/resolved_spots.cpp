/// Asymmetry. The rank-sum test of Mann and Whitney (1947) compares the responses of maxima and of minima,
/// both beyond white noise. In noise and Gaussian textures of any correlation both are equally high.
///
/// Level. The lowest response above the widest gap with possible noise below it: the response above the gap
/// is beyond a Rayleigh tail with the median and the upper tenth of those below. Without such a gap, the
/// level is the first valley far beyond white noise. Without one nothing tells objects from a skewed texture,
/// such as speckle.
///
/// Solid objects (solid_objects.h) need neither: all maxima beyond white noise that are not very faint are
/// taken, since objects that touch differ in height, and dim ones beside bright ones respond little.

#include "tracking/detect/choice/resolved_spots.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include <motes/base/quantile.h>

#include "tracking/detect/choice/likely_spots.h"
#include "tracking/detect/choice/second_look.h"
#include "tracking/detect/choice/selection.h"
#include "tracking/detect/choice/solid_objects.h"
#include "tracking/detect/choice/threshold.h"

namespace motes::tracking::detect {
namespace {

constexpr double kLeastSigma = 2;      // least sigma in xy, in voxels, of objects told by shape,
constexpr double kResolved = 3;        // and by height
constexpr std::size_t kFewest = 8;     // fewest objects and fewest minima
constexpr double kWideGap = 1.5;       // least ratio of the responses above and below
constexpr double kNoiseInFrame = 0.1;  // expected number of maxima of white noise over the level
constexpr double kHigher = 1.4;        // least ratio of the median responses of maxima and minima,
constexpr double kDeviations = 3.5;    // and least deviation of the rank sum, in standard deviations
constexpr double kLeastRound = 0.25;   // least share of round objects; filaments have fewer
constexpr double kLeastScore = 0.3;    // least score, relative to the objects' median
constexpr double kClear = 1.5;         // least ratio of the median response of objects to white noise
constexpr double kFaintest = 0.1;      // least response of solid objects, relative to their median
constexpr double kLowFound = 0.1;      // and relative to this quantile of those found before;
constexpr double kFainter = 0.3;       // the latter is 1 if more than
constexpr double kMostFound = 0.6;     // this share was found before
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
  return a.size() >= kFewest && b.size() >= kFewest && quantile(a, 0.5) >= kHigher * quantile(b, 0.5) &&
         rank_sum_deviation(std::move(a), std::move(b)) > kDeviations;
}

/// All maxima, and those beyond white noise.
struct Heights {
  std::vector<LikelySpot> all;
  std::vector<double> responses;  ///< of all, ascending
  double white = 0;               ///< response that white noise hardly reaches
  std::optional<double> gap;      ///< above_gap

  std::span<const double> from(double least) const {
    return std::span<const double>(responses).last(count_over(responses, least));
  }
  double least() const { return gap ? *gap : first_valley(responses, white); }
};

Heights heights_of(const ResolvedFrame& at, const ScoredMaxima& maxima) {
  constexpr double kAll = -std::numeric_limits<double>::infinity();
  Heights heights{maxima.take({{kAll, kAll}}), {}, 0, {}};
  heights.white = noise_level(at.filter, at.frame.shape, kNoiseInFrame) * maxima.noise_deviation(1);
  for (const LikelySpot& one : heights.all) heights.responses.push_back(one.response);
  std::sort(heights.responses.begin(), heights.responses.end());
  heights.gap = above_gap(heights.responses, heights.white);
  return heights;
}

/// Whether the maxima beyond white noise are clear of it, and are objects by their shapes.
bool are_clear_objects(const ResolvedFrame& at, const ScoredMaxima& maxima, const Heights& heights,
                       std::span<const double> beyond) {
  if (beyond.size() < kFewest || percentile(beyond, 0.5) < kClear * heights.white) return false;
  std::vector<Voxel> high, low;
  for (const LikelySpot& one : heights.all)
    if (one.response >= heights.white) high.push_back(one.spot.voxel);
  for (const ChosenSpot& one : maxima.look_again(Side::minima, heights.white).extrema)
    low.push_back(one.voxel);
  return are_solid_objects(at.execution, at.frame, at.filter, at.polarity, high, low);
}

/// Marks in `all` those taken in `likely`, and no others.
void mark_taken(const std::vector<LikelySpot>& likely, std::vector<LikelySpot>& all) {
  std::size_t next = 0;
  for (LikelySpot& one : all) {
    while (next < likely.size() && likely[next].spot.voxel < one.spot.voxel) ++next;
    one.taken = next < likely.size() && likely[next].spot.voxel == one.spot.voxel && likely[next].taken;
  }
}

/// Scores of the maxima of this response or more; none if too few of these are round.
std::vector<double> scores_of_round(const std::vector<LikelySpot>& all, double least) {
  std::vector<double> scores;
  std::size_t round = 0;
  for (const LikelySpot& one : all) {
    if (one.response < least) continue;
    scores.push_back(one.spot.score);
    if (one.is_round) ++round;
  }
  if (static_cast<double>(round) < kLeastRound * static_cast<double>(scores.size())) scores.clear();
  return scores;
}

/// Replaces `likely` by the maxima that are higher than minima are deep.
bool take_higher(Heights heights, std::vector<LikelySpot>& likely) {
  const double least = heights.least();
  if (!heights.gap && least < kWideGap * heights.white) return false;
  const std::vector<double> scores = scores_of_round(heights.all, least);
  if (scores.empty()) return false;
  const double least_score = kLeastScore * percentile(scores, 0.5);
  for (LikelySpot& one : heights.all) {
    one.taken = one.response >= least && one.spot.score > 0 && one.spot.score >= least_score;
    one.spot.over = one.response / least;
  }
  const auto before = static_cast<double>(count_taken(likely));
  if (static_cast<double>(count_taken(heights.all)) < kMore * before) return false;
  likely = std::move(heights.all);
  return true;
}

/// Adds solid objects to `likely`. Those found before show how faint others may be.
bool add_solid(Heights heights, std::vector<LikelySpot>& likely) {
  double least = heights.least();
  const std::span<const double> objects = heights.from(least);
  if (!objects.empty()) least = std::max(least, kFaintest * percentile(objects, 0.5));
  const std::size_t likely_objects = scores_of_round(heights.all, least).size();
  if (likely_objects == 0) return false;
  mark_taken(likely, heights.all);
  std::vector<double> found;
  for (const LikelySpot& one : heights.all)
    if (one.taken) found.push_back(one.response);
  if (found.size() >= kFewest) {
    const bool most = static_cast<double>(found.size()) > kMostFound * static_cast<double>(likely_objects);
    least = std::max(least, (most ? 1 : kFainter) * quantile(found, kLowFound));
  }
  for (LikelySpot& one : heights.all) {
    if (one.response >= least && one.spot.score > 0) one.taken = true;
    one.spot.over = one.response / least;
  }
  if (count_taken(heights.all) == found.size()) return false;
  likely = std::move(heights.all);
  return true;
}

}  // namespace

Resolved take_resolved(const ResolvedFrame& at, const ScoredMaxima& maxima, std::span<const double> depths,
                       std::vector<LikelySpot>& likely) {
  const double sigma = std::min(at.filter.sigma[0], at.filter.sigma[1]);
  if (sigma < kLeastSigma || maxima.mostly_lowest()) return {};
  Heights heights = heights_of(at, maxima);
  const std::span<const double> beyond = heights.from(heights.white);
  std::vector<double> low;
  std::copy_if(depths.begin(), depths.end(), std::back_inserter(low),
               [&](double depth) { return depth >= heights.white; });
  const bool higher = sigma >= kResolved && are_higher({beyond.begin(), beyond.end()}, std::move(low)),
             more = static_cast<double>(beyond.size()) >= kMore * static_cast<double>(count_taken(likely)),
             solid = (more || at.tell_solid) && are_clear_objects(at, maxima, heights, beyond);
  if (!higher && !(more && solid)) return {false, solid};
  return {solid ? add_solid(std::move(heights), likely) : take_higher(std::move(heights), likely), solid};
}

}  // namespace motes::tracking::detect
