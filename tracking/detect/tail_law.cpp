/// Values over a high quantile follow a generalised Pareto law, whatever they are (Pickands 1975), close to
/// an exponential. How many exceed a level is the mean over all scales and shapes of that law, each weighted
/// by its likelihood (the posterior predictive), the shape with what noise has in common as its prior: the
/// likeliest law alone promises too few. Values over the level, which may be spots, take no part: the law is
/// cut off there.
///
/// A squared score is -dof ln x, x the share of a box's variance that a spot leaves unexplained. If k of the
/// box's dof directions hold the noise, all alike, then P(x < X) is about X^(k/2): an exponential law of
/// scale 2 dof / k. In noise that neighbours share, directions are unlike: the smaller the residual, the more
/// of them it takes, so k grows with the score and the law's shape is the more negative, the larger its scale
/// is beside dof. How much so was measured on Gaussian noise smoothed by 0 to 2 voxels (sigma 1.2 and 2,
/// planes and stacks); skewed and median-filtered noise follow.

#include "tracking/detect/tail_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace motes::tracking::detect {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Of a law's shape.
struct Prior {
  double shape, spread;
};

/// Values between `from` and `to`, less `from`, counted in bins of equal width up to the highest of them.
struct Tail {
  double length = 0, count = 0, mean = 0;
  std::vector<double> middles, counts;  ///< of the bins that hold any

  Tail(std::span<const double> ascending, double from, double to, std::size_t bins) : length(to - from) {
    auto next = std::upper_bound(ascending.begin(), ascending.end(), from);
    const auto end = std::upper_bound(next, ascending.end(), to);
    if (next == end) return;
    const double highest = *(end - 1), width = (highest - from) / static_cast<double>(bins);
    for (std::size_t i = 0; next != end; ++i) {
      const double upper = i + 1 >= bins ? highest : from + static_cast<double>(i + 1) * width;
      const auto last = std::upper_bound(next, end, upper);
      if (last == next) continue;
      middles.push_back((static_cast<double>(i) + 0.5) * width);
      counts.push_back(static_cast<double>(last - next));
      count += counts.back();
      mean += counts.back() * middles.back();
      next = last;
    }
    mean /= count;
  }
};

struct ParetoLaw {
  double scale = 1, shape = 0;
  /// Share over u.
  double beyond(double u) const {
    if (std::abs(shape) < 1e-6) return std::exp(-u / scale);
    return std::pow(std::max(0.0, 1 + shape * u / scale), -1 / shape);
  }
  /// Logarithm, up to a constant, of the tail's likelihood.
  double likelihood(const Tail& tail) const {
    if (tail.middles.empty() || 1 + shape * tail.middles.back() / scale <= 0) return -kInfinite;
    double sum = 0;
    for (std::size_t i = 0; i < tail.counts.size(); ++i) {
      const double u = tail.middles[i] / scale;
      sum += tail.counts[i] * (std::abs(shape) < 1e-6 ? u : (1 / shape + 1) * std::log1p(shape * u));
    }
    return -sum - tail.count * std::log(scale * (1 - beyond(tail.length)));
  }
};

/// One of `scales` that are tried.
double scale_of(const Tail& tail, int i, int scales) {
  constexpr double kLeast = 0.4, kMost = 8;  // means of the tail
  return tail.mean * kLeast * std::pow(kMost / kLeast, static_cast<double>(i) / (scales - 1));
}

/// Values expected over the tail if it is as short as noise has any: most levels fail by that.
double least_beyond(const Tail& tail, const Prior& prior) {
  constexpr int kScales = 15;
  constexpr double kShort = 2;  // spreads
  double most = -kInfinite, share = 1;
  for (int i = 0; i < kScales; ++i) {
    const ParetoLaw law{scale_of(tail, i, kScales), prior.shape - kShort * prior.spread};
    const double likelihood = law.likelihood(tail);
    if (likelihood <= most) continue;
    most = likelihood;
    share = law.beyond(tail.length);
  }
  return share < 1 ? tail.count * share / (1 - share) : kInfinite;
}

/// How a tail goes on.
class Continued {
 public:
  Continued(const Tail& tail, const Prior& prior) {
    constexpr int kShapes = 5, kScales = 40;
    constexpr double kShapeStep = 0.5;  // spreads
    double most = -kInfinite;
    for (int s = -kShapes; s <= kShapes; ++s)
      for (int k = 0; k < kScales; ++k) {
        const ParetoLaw law{scale_of(tail, k, kScales), prior.shape + kShapeStep * s * prior.spread};
        const double unlike = kShapeStep * s;
        const double weight = law.likelihood(tail) - 0.5 * unlike * unlike;
        if (weight == -kInfinite) continue;
        laws_.push_back({law, weight});
        most = std::max(most, weight);
      }
    double sum = 0;
    for (Weighted& w : laws_) sum += w.weight = std::exp(w.weight - most);
    constexpr double kTiny = 1e-9;
    std::erase_if(laws_, [&](const Weighted& w) { return w.weight < kTiny * sum; });
    for (Weighted& w : laws_) w.weight *= tail.count / (sum * (1 - w.law.beyond(tail.length)));
  }
  /// Values expected over u.
  double beyond(double u) const {
    double sum = 0;
    for (const Weighted& w : laws_) sum += w.weight * w.law.beyond(u);
    return sum;
  }
  /// What `wanted` values are expected to exceed, near `guess`.
  double level_of(double wanted, double guess) const {
    double low = 0, high = guess;
    for (int i = 0; i < 8 && beyond(high) > wanted; ++i) high *= 2;
    for (int i = 0; i < 40; ++i) {
      const double middle = 0.5 * (low + high);
      (beyond(middle) > wanted ? low : high) = middle;
    }
    return high;
  }

 private:
  struct Weighted {
    ParetoLaw law;
    double weight = 0;
  };
  std::vector<Weighted> laws_;
};

constexpr double kTailFrom = 0.97;    // quantile from which on scores are tail
constexpr double kTailStart = 0.995;  // where the tail is cut off at first,
constexpr double kTailLeast = 0.99;   // and at least
constexpr int kTailRounds = 4;
constexpr Prior kOfSquares{-0.02, 0.03};  // shape of the squared scores' tail where all directions hold noise
constexpr double kShared = 0.5;           // how far it falls for each unit of scale / dof
constexpr double kTailScores = 100;       // at least, and
constexpr double kTailOverCount = 4;      // times what is asked for: of few scores the tail is longer,
constexpr double kTailMost = 0.5;         // up to this share
constexpr std::size_t kFewestOfTail = 500;
constexpr std::size_t kBinsOfSquares = 100;

constexpr Prior kOfResponses{0.03, 0.08};  // from a Gaussian field's maxima to an exponential law, and beyond
constexpr double kUpper = 0.3;             // of the values below a level
constexpr std::size_t kFewestUpper = 40, kFewestBelow = 50, kBins = 64;
constexpr double kOnlyOne = 0.05;    // of a spot: what a single one counts as
constexpr double kNextLevel = 0.95;  // share of the values over a level that are over the next
constexpr double kMany = 0.2;        // of all: their median is so many times that of the others,
constexpr double kFarOver = 6;       // while the highest fifth of exponential noise is 4.5 times the others
constexpr double kHopeless = 2;      // times as many of noise as allowed

std::size_t share_of(std::size_t n, double share) {
  return static_cast<std::size_t>(std::ceil(share * static_cast<double>(n)));
}

}  // namespace

std::optional<double> continued_level(std::span<const double> ascending, double count, double dof,
                                      double weight) {
  if (ascending.size() < kFewestOfTail) return std::nullopt;
  std::vector<double> squares;
  squares.reserve(ascending.size());
  for (const double s : ascending) squares.push_back(std::max(0.0, s) * s);
  const auto all = static_cast<double>(squares.size());
  const double wanted = std::max(kTailScores, kTailOverCount * count / weight);
  const double wider = std::clamp(wanted / ((1 - kTailFrom) * all), 1.0, kTailMost / (1 - kTailFrom));
  const auto over = [&](double share) {
    return squares[static_cast<std::size_t>((1 - wider * (1 - share)) * (all - 1))];
  };
  const double from = over(kTailFrom), least = over(kTailLeast);
  double to = over(kTailStart), level = 0;
  if (!(least > from)) return std::nullopt;
  for (int i = 0; i < kTailRounds; ++i) {
    const Tail tail(squares, from, to, kBinsOfSquares);
    const Prior prior{kOfSquares.shape - kShared * tail.mean / dof, kOfSquares.spread};
    level = from + Continued(tail, prior).level_of(count / weight, tail.length);
    to = std::max(level, least);
  }
  return std::sqrt(level);
}

std::optional<double> level_over_tail(std::span<const double> ascending, double false_share) {
  if (ascending.size() <= kFewestBelow) return std::nullopt;
  std::size_t found = ascending.size() - kFewestBelow;
  for (; found > 0; found = std::min(found - 1, share_of(found, kNextLevel))) {
    const double level = ascending[ascending.size() - found];
    const std::span<const double> below = ascending.first(ascending.size() - found);
    const std::size_t upper = std::max(kFewestUpper, share_of(below.size(), kUpper));
    const double from = below[below.size() - upper];
    if (!(level > from)) continue;
    const double middle = ascending[ascending.size() - found / 2 - 1];
    if (found > share_of(ascending.size(), kMany) && middle < kFarOver * below[below.size() / 2]) continue;
    const auto few = static_cast<double>(std::min(found - 1, below.size()));
    const double allowed = false_share * std::max(kOnlyOne, few);
    const Tail tail(below, from, level, kBins);
    if (tail.count == 0 || least_beyond(tail, kOfResponses) > kHopeless * allowed) continue;
    if (Continued(tail, kOfResponses).beyond(tail.length) <= allowed) return level;
  }
  return kInfinite;
}

}  // namespace motes::tracking::detect
