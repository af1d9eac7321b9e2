/// Values over a high quantile of almost any distribution follow a generalised Pareto law (Pickands 1975),
/// here close to an exponential. The expected number of values over a level is the mean over all scales and
/// shapes of that law, weighted by likelihood and by a prior of the shape (the posterior predictive). The law
/// of maximum likelihood would give too few. Values over the level may be spots and are not used: the law is
/// truncated there.
///
/// A squared score is -dof ln x, where x is the share of a box's variance that a spot does not explain. If
/// the noise has equal variance in k of the box's dof directions and none in the others, P(x < X) is about
/// X^(k/2): an exponential law of scale 2 dof / k. In correlated noise the variances of directions differ. A
/// smaller residual involves more of them, so k grows with the score: the shape of the law is more negative,
/// the larger its scale is relative to dof. This dependence was measured on Gaussian noise smoothed by 0 to 2
/// voxels (sigma 1.2 and 2, planes and stacks); it also holds for skewed and median-filtered noise. Its part
/// without dof gives the right number of false spots in bench_detect --noise.

#include "tracking/detect/choice/tail_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace motes::tracking::detect {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The normal prior of a law's shape.
struct Prior {
  double shape, spread;
};

/// The values between `from` and `to`, minus `from`, counted in bins of equal width up to the highest.
struct Tail {
  double length = 0, count = 0, mean = 0;
  std::vector<double> middles, counts;  ///< of the bins that are not empty

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
  /// Share of the values over u.
  double beyond(double u) const {
    if (std::abs(shape) < 1e-6) return std::exp(-u / scale);
    return std::pow(std::max(0.0, 1 + shape * u / scale), -1 / shape);
  }
  /// Log-likelihood of the tail, up to a constant.
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

/// The i-th of `scales` trial scales.
double scale_of(const Tail& tail, int i, int scales) {
  constexpr double kLeast = 0.4, kMost = 8;  // in units of the tail's mean
  return tail.mean * kLeast * std::pow(kMost / kLeast, static_cast<double>(i) / (scales - 1));
}

/// A lower bound of the number of values expected beyond the tail, from the shortest tail of noise. Most
/// levels are rejected by it.
double least_beyond(const Tail& tail, const Prior& prior) {
  constexpr int kScales = 15;
  constexpr double kShort = 2;  // in spreads of the prior
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

/// The continuation of a tail.
class Continued {
 public:
  Continued(const Tail& tail, const Prior& prior) {
    constexpr int kShapes = 5, kScales = 40;
    constexpr double kShapeStep = 0.5;  // in spreads of the prior
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
  /// Expected number of values over u.
  double beyond(double u) const {
    double sum = 0;
    for (const Weighted& w : laws_) sum += w.weight * w.law.beyond(u);
    return sum;
  }
  /// The level that `wanted` values are expected to exceed; the search starts at `guess`.
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

constexpr double kTailStart = 1.0 / 6;  // the tail is truncated at this share of it at first,
constexpr double kTailLeast = 1.0 / 3;  // and at most at this one
constexpr int kTailRounds = 4;
constexpr Prior kOfSquares{-0.04, 0.03};  // of the tail of squared scores if noise is in all directions
constexpr double kShared = 0.5;           // decrease of the shape per unit of scale / dof
constexpr std::size_t kFewestOfTail = 500;
constexpr std::size_t kBinsOfSquares = 100;

constexpr Prior kOfResponses{0.03, 0.08};  // covers maxima of Gaussian fields, exponential laws and more
constexpr double kUpper = 0.3;             // share of the values below a level that is their tail
constexpr std::size_t kFewestUpper = 40, kFewestBelow = 50, kBins = 64;
constexpr double kOnlyOne = 0.05;    // expected false spots at which a single one is accepted
constexpr double kNextLevel = 0.95;  // share of the values over a level that are over the next level
constexpr double kMany = 0.2;        // of all values: more must have a median that is
// this many times that of the others (exponential noise: 4.5 for the highest fifth).
constexpr double kFarOver = 6;
constexpr double kHopeless = 2;  // a level with this many times the allowed noise is rejected early

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
  const double share = share_in_tail(count / weight, all);
  const auto over = [&](double part) {
    return squares[static_cast<std::size_t>((1 - part * share) * (all - 1))];
  };
  const double from = over(1), least = over(kTailLeast);
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
