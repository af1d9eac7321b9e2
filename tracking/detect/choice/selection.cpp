/// Noise. On white noise the scores of extrema have nearly the same distribution for every filter, frame size
/// and strength of the noise: kNoise below, measured on simulated frames (sigma 0.8 to 4 voxels, 2D and 3D),
/// with a Gaussian tail. For other noise it is stretched: by the minima's 95th percentile, and for skewed
/// noise (such as shot noise) also by the ratio of the maxima's upper quarter to the minima's, up to
/// kMostSkew.
///
/// Valley. Backgrounds other than noise (texture, cells) can score over the level. Then they and the spots
/// are two modes of the density of scores. The level is raised to the first valley from the side of noise, so
/// that dim spots are kept beside ones a hundred times as bright.

#include "tracking/detect/choice/selection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <motes/base/quantile.h>

namespace motes::tracking::detect {
namespace {

struct Knot {
  double score, tail;
};
constexpr std::array<Knot, 6> kNoise{{{0, 1}, {1.1, .5}, {2.5, .1}, {2.86, .05}, {3.5, .01}, {4.2, .001}}};
constexpr double kTailVariance = 1.1;  // of the Gaussian tail beyond the last knot
constexpr double kMedian = 1.1, kUpper = 2.86;
constexpr double kMostSkew = 1.5;
constexpr double kFewLow = 0.1;     // share of the maxima that is few low scores
constexpr std::size_t kFewest = 8;  // extrema needed for a percentile

/// As std::is_sorted, but block by block so that the compiler can vectorise it, since there may be millions
/// of scores.
bool are_ascending(std::span<const double> scores) {
  constexpr std::size_t kBlock = 4096;
  for (std::size_t begin = 0; begin + 1 < scores.size(); begin += kBlock) {
    const std::size_t n = std::min(kBlock, scores.size() - 1 - begin);
    const double* const own = scores.data() + begin;
    int fall = 0;
    for (std::size_t i = 0; i < n; ++i) fall |= static_cast<int>(own[i] > own[i + 1]);
    if (fall != 0) return false;
  }
  return true;
}

/// The scores from `least` on (or above it) in falling order. Ascending scores are not copied.
class Falling {
 public:
  enum class From { least, above };
  Falling(std::span<const double> scores, double least, From from = From::least) {
    if (!are_ascending(scores)) {
      own_.assign(scores.begin(), scores.end());
      std::sort(own_.begin(), own_.end());
      scores = own_;
    }
    const auto first = from == From::least ? std::lower_bound(scores.begin(), scores.end(), least)
                                           : std::upper_bound(scores.begin(), scores.end(), least);
    ascending_ = {first, scores.end()};
  }
  Falling(const Falling&) = delete;
  std::size_t size() const { return ascending_.size(); }
  double operator[](std::size_t i) const { return ascending_[ascending_.size() - 1 - i]; }
  std::span<const double> ascending() const { return ascending_; }

 private:
  std::vector<double> own_;
  std::span<const double> ascending_;
};

/// Whether the chance of so few events or fewer is at most `chance` if `expected` are expected (Poisson).
bool too_few(double few, double expected, double chance) {
  double term = 1, sum = 1;  // probabilities of so few or fewer, in units of that of so few
  for (double i = few; i > 0 && term > 1e-9 * sum; --i) sum += term *= i / expected;
  return few * std::log(expected) - expected - std::lgamma(few + 1) + std::log(sum) <= std::log(chance);
}

}  // namespace

double percentile(std::span<const double> scores, double share) {
  if (are_ascending(scores))
    return scores[static_cast<std::size_t>(share * static_cast<double>(scores.size() - 1))];
  std::vector<double> values(scores.begin(), scores.end());
  return quantile(values, share);
}

NoiseScores noise_scores(std::span<const double> maxima, std::span<const double> minima,
                         double minima_per_sample) {
  NoiseScores noise;
  if (minima.size() >= kFewest) noise.stretch = std::max(noise.stretch, percentile(minima, .95) / kUpper);
  if (minima.size() >= kFewest && maxima.size() >= kFewest) {
    const double up = percentile(maxima, .75);
    const double down = percentile(minima, .75);
    if (down > 0) noise.stretch *= std::clamp(up / down, 1.0, kMostSkew);
  }
  const bool ascending = are_ascending(maxima);
  const double least = kMedian * noise.stretch;
  double low = static_cast<double>(
      ascending ? std::lower_bound(maxima.begin(), maxima.end(), least) - maxima.begin()
                : std::count_if(maxima.begin(), maxima.end(), [&](double s) { return s < least; }));
  // Half of the noise should score this low. Where hardly any maximum does, though most score no more than
  // noise can, the noise follows another law: then as many maxima are noise as there are minima.
  const auto all = static_cast<double>(maxima.size());
  if (low < kFewLow * all && percentile(maxima, .5) < kUpper * noise.stretch) low = all;
  noise.count = std::max(1.0, std::min(minima_per_sample * static_cast<double>(minima.size()), 2 * low + 1));
  return noise;
}

double noise_tail(const NoiseScores& noise, double score) {
  const double s = score / noise.stretch;
  const Knot last = kNoise.back();
  if (s >= last.score) return last.tail * std::exp(-(s * s - last.score * last.score) / (2 * kTailVariance));
  std::size_t i = 1;
  while (s > kNoise[i].score) ++i;
  const double part = (s - kNoise[i - 1].score) / (kNoise[i].score - kNoise[i - 1].score);
  return std::exp((1 - part) * std::log(kNoise[i - 1].tail) + part * std::log(kNoise[i].tail));
}

double false_alarm_level(const NoiseScores& noise, double false_spots) {
  double low = 0, high = 100 * noise.stretch;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (noise.count * noise_tail(noise, middle) > false_spots ? low : high) = middle;
  }
  return high;
}

double false_discovery_level(const NoiseScores& noise, std::span<const double> maxima, double false_share) {
  const double empty = false_alarm_level(noise, 0.2 * false_share);
  const double least = kMedian * noise.stretch;
  const Falling scores(maxima, least, Falling::From::above);
  const auto allowed = [&](std::size_t n) { return false_share * std::max(0.2, static_cast<double>(n) - 1); };
  constexpr std::size_t kBlock = 64;  // if its best score does not pass, the block is skipped
  for (std::size_t n = scores.size(); n > 0; --n) {
    while (n > kBlock && noise.count * noise_tail(noise, scores[n - kBlock]) > allowed(n)) n -= kBlock;
    const double s = scores[n - 1];
    if (noise.count * noise_tail(noise, s) <= allowed(n)) return std::min(s, empty);
  }
  return empty;
}

double level_of_likely(const NoiseScores& noise, std::span<const double> maxima, double level) {
  constexpr double kBand = 1.15, kStep = 1.02, kRaised = 1.6, kManyOfNoise = 2, kFewOfNoise = 1;
  constexpr std::size_t kFewestMaxima = 5;
  const Falling all(maxima, level);
  if (all.size() < kFewestMaxima) return level;
  const std::span<const double> scores = all.ascending();
  const auto below = [&](double score) {
    return static_cast<double>(std::lower_bound(scores.begin(), scores.end(), score) - scores.begin());
  };
  double raised = level;
  for (; raised < kRaised * level; raised *= kStep) {
    const double of_noise = noise.count * (noise_tail(noise, raised) - noise_tail(noise, kBand * raised));
    if (of_noise < (raised > level ? kFewOfNoise : kManyOfNoise) ||
        below(kBand * raised) - below(raised) >= 2 * of_noise)
      break;
  }
  return raised;
}

bool blends_into_noise(std::span<const double> scores, double level) {
  constexpr std::size_t kFew = 20;
  constexpr double kGap = 1.25;
  const auto found = static_cast<std::size_t>(
      std::count_if(scores.begin(), scores.end(), [&](double s) { return s >= level; }));
  if (found == 0 || found > kFew) return false;
  const Falling top(scores, kBlendsBelow * level);
  if (2 * (top.size() - found) < found) return false;
  for (std::size_t i = 0; i < found && i + 1 < top.size(); ++i)
    if (top[i] > kGap * top[i + 1]) return false;
  return true;
}

double first_valley(std::span<const double> scores, double level) {
  constexpr double kBin = 0.02, kBandwidth = 0.12, kRise = 2, kFloor = 0.5;
  std::vector<double> logs;
  logs.reserve(scores.size());
  for (const double s : scores)
    if (s >= level) logs.push_back(std::log(s / level));
  if (logs.size() < 5) return level;
  const double highest = *std::max_element(logs.begin(), logs.end());
  const auto bins = static_cast<std::size_t>(highest / kBin) + 2;
  std::vector<double> counts(bins);
  for (const double v : logs) ++counts[static_cast<std::size_t>(v / kBin)];
  // Counts smoothed by a kernel normalised so that the result has the statistical error of a count.
  const auto reach = static_cast<std::ptrdiff_t>(4 * kBandwidth / kBin);
  std::vector<double> kernel;
  for (std::ptrdiff_t k = 0; k <= reach; ++k) {
    const double u = static_cast<double>(k) * kBin / kBandwidth;
    kernel.push_back(std::numbers::sqrt2 * std::exp(-0.5 * u * u));
  }
  const auto n = static_cast<std::ptrdiff_t>(bins);
  std::vector<double> density(bins);
  for (std::ptrdiff_t i = 0; i < n; ++i)
    for (std::ptrdiff_t k = -reach; k <= reach; ++k) {
      std::ptrdiff_t j = i + k;
      if (j < 0) j = -1 - j;  // mirrored at the level
      if (j < n)
        density[static_cast<std::size_t>(i)] +=
            kernel[static_cast<std::size_t>(std::abs(k))] * counts[static_cast<std::size_t>(j)];
    }
  double least = density[0];
  for (std::size_t i = 0; i < bins; ++i) {
    least = std::min(least, density[i]);
    if (std::sqrt(density[i]) - std::sqrt(least) < kRise) continue;
    const double low_enough = std::max(kFloor, 1.5 * least);
    const auto cut = static_cast<double>(
        std::find_if(density.begin(), density.end(), [&](double d) { return d <= low_enough; }) -
        density.begin());
    return level * std::exp(cut * kBin);
  }
  return level;
}

bool beyond_tail(std::span<const double> ascending, std::size_t above) {
  constexpr double kFalseShare = 0.01;
  const auto falling = [&](std::size_t k) { return ascending[ascending.size() - 1 - k]; };
  const auto below = static_cast<double>(ascending.size() - above);
  const auto scale = [&](double share) {  // of a Rayleigh distribution, by the value that `share` exceed
    return falling(above + static_cast<std::size_t>(share * below)) / std::sqrt(-2 * std::log(share));
  };
  const double reach = falling(above - 1) / std::max(scale(0.5), scale(0.1));
  return below * std::exp(-reach * reach / 2) <= kFalseShare * static_cast<double>(above);
}

std::optional<double> clear_of_the_rest(std::span<const double> values, bool may_be_most) {
  constexpr std::size_t kLeast = 8, kLeastBelow = 15;  // values above and below a gap
  constexpr double kGap = 1.25, kGapBelowMost = 2;
  const Falling sorted(values, 0, Falling::From::above);
  const std::size_t n = sorted.size();
  std::optional<double> least;
  double widest = kGap;
  for (std::size_t above = kLeast; above + kLeastBelow <= n; ++above) {
    if (2 * above > n && !may_be_most) break;
    const double ratio = sorted[above - 1] / sorted[above];
    if (ratio < (2 * above > n ? std::max(widest, kGapBelowMost) : widest) ||
        !beyond_tail(sorted.ascending(), above))
      continue;
    least = sorted[above - 1];
    widest = ratio;
  }
  return least;
}

std::optional<double> level_of_alike(std::span<const double> ascending, int dimensions, double noise) {
  // Share of noise maxima below half their median, and over 1.3 and 1.5 times that, at least.
  constexpr std::array kBelowHalf{0.15, 0.1, 0.06}, kAboveHigh{0.31, 0.216, 0.16},
      kAboveFar{0.2, 0.09, 0.036};
  constexpr std::array kQuartile{0.71, 0.78, 0.84};  // least ratio of the lower quartile to the median;
                                                     // noise: 0.58, 0.69, 0.77
  constexpr double kHigh = 1.3, kFewHigh = 0.8, kFar = 1.5, kFewFar = 0.6, kFarFewer = 0.3, kFewer = 0.5;
  if (ascending.empty()) return std::nullopt;
  const auto axes = static_cast<std::size_t>(std::clamp(dimensions, 1, 3) - 1);
  const auto all = static_cast<double>(ascending.size());
  const double median = ascending[ascending.size() / 2], level = std::max(0.5 * median, noise);
  const auto below = [&](double value) {
    const auto end = std::lower_bound(ascending.begin(), ascending.end(), value);
    return static_cast<double>(end - ascending.begin());
  };
  const auto is_few = [&](double number, double ratio, double share, double chance) {
    return number < ratio * share * all && too_few(number, share * all, chance);
  };
  if (!(median > noise)) return std::nullopt;
  if (is_few(all - below(kHigh * median), kFewHigh, kAboveHigh[axes], 1e-4)) return level;
  if (is_few(all - below(kFar * median), kFewFar, kAboveFar[axes], 1e-3)) return level;
  const bool alike = ascending[ascending.size() / 4] >= kQuartile[axes] * median;
  const double fewer = alike ? kFewer : kFarFewer;
  return is_few(below(0.5 * median), fewer, kBelowHalf[axes], 1e-3) ? std::optional(level) : std::nullopt;
}

}  // namespace motes::tracking::detect
