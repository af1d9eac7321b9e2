/// Noise is modelled as in the first look (selection.h), but for the wider box: kNoise below is the
/// distribution of scores on white noise, and the 98th percentile of the minima gives the stretch of this
/// frame's.

#include "tracking/detect/choice/second_look.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <motes/base/quantile.h>

#include "tracking/detect/choice/selection.h"

namespace motes::tracking::detect {
namespace {

constexpr double kFalseShare = 0.04;  // of false spots among those found
constexpr double kOnlyOne = 0.05;     // expected false spots at which a single one is accepted
constexpr std::size_t kFewest = 20;   // with fewer spots in the first look there is a second one,
constexpr double kNearNoise = 0.1;    // as with at least this share of them within kMargin of the level
constexpr double kMargin = 1.25;
constexpr double kMostNeighbours = 0.5;  // largest expected number in a box
constexpr double kMostStretch = 1.1;     // largest stretch of noise in the first look

/// White noise: share of its extrema that score higher, measured with sigma 0.8 to 4 voxels in 2D and 3D.
struct Knot {
  double score, tail;
};
constexpr std::array<Knot, 4> kNoise{{{2.5, .05}, {3.0, .02}, {3.35, .01}, {4.1, .001}}};
constexpr double kTailVariance = 1.25;  // of the Gaussian tail beyond the last knot
constexpr double kUpperShare = 0.02, kUpper = 3.0;
constexpr double kLeastStretch = 0.9;
constexpr double kMostSkew = 1.25;   // largest ratio of the maxima's tail to the minima's
constexpr double kSkewGrowth = 1.3;  // exponent of the ratio: its growth from there to the level
constexpr std::size_t kFewestMinima = 500;

double noise_tail(double score) {
  const Knot last = kNoise.back();
  if (score >= last.score)
    return last.tail * std::exp(-(score * score - last.score * last.score) / (2 * kTailVariance));
  if (score <= kNoise[0].score) return 1;
  std::size_t i = 1;
  while (score > kNoise[i].score) ++i;
  const double part = (score - kNoise[i - 1].score) / (kNoise[i].score - kNoise[i - 1].score);
  return std::exp((1 - part) * std::log(kNoise[i - 1].tail) + part * std::log(kNoise[i].tail));
}

/// The expected number of other spots in the box around a spot.
double neighbours(const Filter& filter, const Shape3& shape, std::size_t spots) {
  const std::array<std::int64_t, 3> size{shape.nx, shape.ny, shape.nz};
  double share = static_cast<double>(spots);
  for (std::size_t a = 0; a < 3; ++a)
    if (filter.sigma[a] > 0)
      share *= std::min(1.0, 2 * kSecondReach * filter.sigma[a] / static_cast<double>(size[a]));
  return share;
}

bool near_noise(std::span<const ChosenSpot> taken) {
  if (taken.size() < kFewest) return true;
  double level = taken.front().score;
  for (const ChosenSpot& s : taken) level = std::min(level, s.score);
  const auto near = std::count_if(taken.begin(), taken.end(),
                                  [&](const ChosenSpot& s) { return s.score < kMargin * level; });
  return static_cast<double>(near) >= kNearNoise * static_cast<double>(taken.size());
}

/// All scores [n]; 0 for extrema without a second look.
std::vector<double> filled_up(std::vector<double> scores, std::size_t n) {
  scores.resize(n);
  return scores;
}

/// The score from which on a share kFalseShare of the maxima is expected to be false; none if no maximum
/// scores that high. `falling`: scores in falling order. `noise`: number of noise maxima, `stretch`: of their
/// scores relative to white noise.
std::optional<double> false_discovery(std::span<const double> falling, double noise, double stretch) {
  for (std::size_t n = falling.size(); n > 0; --n) {
    const double falsely = noise * noise_tail(falling[n - 1] / stretch);
    if (falsely <= kFalseShare * std::max(kOnlyOne, static_cast<double>(n) - 1)) return falling[n - 1];
  }
  return std::nullopt;
}

double upper_of(std::span<const double> scores, double below) {
  std::vector<double> noise;
  for (const double s : scores)
    if (s < below) noise.push_back(s);
  return quantile(noise, 1 - kUpperShare) / kUpper;
}

/// The lowest score of spots. In shot noise and other skewed noise, maxima score higher than minima. By how
/// much is measured on the maxima below a first level and extrapolated to it.
std::optional<double> level_of(std::span<const double> high, std::span<const double> low, std::size_t before,
                               double first_stretch) {
  std::vector<double> falling;
  for (const double s : high)
    if (s > kLookedAt) falling.push_back(s);
  std::sort(falling.begin(), falling.end(), std::greater<>());
  const auto noise = static_cast<double>(high.size() - before);
  const double down = upper_of(low, std::numeric_limits<double>::infinity());
  if (down > kMostStretch || !(down > 0)) return std::nullopt;
  double stretch = std::max(kLeastStretch, down) * first_stretch;
  const std::optional<double> symmetric = false_discovery(falling, noise, stretch);
  if (!symmetric) return std::nullopt;
  const double skew = std::max(1.0, upper_of(high, *symmetric) / down);
  if (skew > kMostSkew) return std::nullopt;
  stretch = std::max(stretch, std::max(kLeastStretch, down) * std::pow(skew, kSkewGrowth));
  const std::optional<double> level = false_discovery(falling, noise, stretch);
  if (!level) return std::nullopt;
  return first_valley(falling, *level);
}

}  // namespace

std::optional<std::vector<ChosenSpot>> second_look(const Filter& filter, const Shape3& shape,
                                                   const FirstLook& first) {
  const std::size_t before = first.taken.size();
  if (first.noise_stretch > kMostStretch || neighbours(filter, shape, before) > kMostNeighbours ||
      first.minima < kFewestMinima || !near_noise(first.taken) || first.scored.mostly_lowest())
    return std::nullopt;
  const std::vector<double> low = filled_up(first.scored.look_again(Side::minima).scores, first.minima);
  const LookedAgain maxima = first.scored.look_again(Side::maxima);
  const std::vector<double> high = filled_up(maxima.scores, first.maxima);
  const std::optional<double> level = level_of(high, low, before, first.noise_stretch);
  if (!level) return std::nullopt;
  std::vector<ChosenSpot> spots;
  for (std::size_t i = 0; i < maxima.extrema.size(); ++i)
    if (maxima.scores[i] >= *level) spots.push_back(maxima.extrema[i]);
  if (spots.size() <= before) return std::nullopt;
  return spots;
}

}  // namespace motes::tracking::detect
