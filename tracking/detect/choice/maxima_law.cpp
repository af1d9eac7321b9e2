/// Gaussian: the table holds the shares of maxima that exceed 0, 0.5, 1 ... 4 standard deviations, for
/// LoG-filtered white noise in one, two and three dimensions, measured on 10^5 maxima. For noise smoothed by
/// up to two voxels they differ by less than a fifth at 4. Beyond 4, the tail is that of the expected Euler
/// characteristic (threshold.cpp).
///
/// Skewed: sums of a few skewed values (exponential, lognormal, photons, gain registers) are close to shifted
/// lognormal values: (exp(skew u) - 1) / skew for a Gaussian field u. This function rises with u, so its
/// maxima are at the maxima of u (translation process; Grigoriu 1995). For each skew the median of the
/// maxima, which is known well, gives the scale. The upper half of the maxima gives the likelihood of the
/// skew.

#include "tracking/detect/choice/maxima_law.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <motes/base/quantile.h>

namespace motes::tracking::detect {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kStep = 0.5;  // deviations between the entries of the law
constexpr std::array<std::array<double, 9>, 3> kExceed{{{1, .82, .545, .283, .114, .035, .0085, .0015, .0002},
                                                        {1, .95, .795, .53, .27, .104, .029, .0064, .0011},
                                                        {1, .985, .92, .75, .474, .222, .077, .019, .003}}};
constexpr int kSkews = 25;
constexpr double kSkewStep = 0.03;
constexpr double kUsualSkew = 0.2;  // mean of the exponential prior of the skew
constexpr std::size_t kBins = 40;
constexpr double kTinyWeight = 1e-6;

/// The height at which the falling function `beyond` is `wanted`.
template <class Beyond>
double height_of(const Beyond& beyond, double wanted, double high) {
  double low = 0;
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (low + high);
    (beyond(middle) > wanted ? low : high) = middle;
  }
  return high;
}

template <class Law>
double quantile_of(const Law& law, double share, double cut) {
  constexpr double kFar = 100;  // more than any maximum of noise
  const double high = std::min(cut, kFar);
  const double wanted = 1 - share * (1 - law.beyond(high));
  return height_of([&](double u) { return law.beyond(u); }, wanted, high);
}

}  // namespace

GaussianMaxima::GaussianMaxima(int dimensions)
    : dimensions_(std::clamp(dimensions, 1, 3)),
      exceed_(kExceed[static_cast<std::size_t>(dimensions_ - 1)]) {}

double GaussianMaxima::beyond(double u) const {
  const double last = kStep * static_cast<double>(exceed_.size() - 1);
  if (u >= last)
    return exceed_.back() * std::pow(u / last, dimensions_ - 1) * std::exp(-(u * u - last * last) / 2);
  const double at = std::max(0.0, u) / kStep;
  const auto i = static_cast<std::size_t>(at);
  const double part = at - static_cast<double>(i);
  return std::exp((1 - part) * std::log(exceed_[i]) + part * std::log(exceed_[i + 1]));
}

double GaussianMaxima::quantile_below(double share, double cut) const {
  return quantile_of(*this, share, cut);
}

double GaussianMaxima::deviation(double median, double cut) const {
  double deviation = median / quantile_below(0.5, kNone);
  for (int i = 0; i < 8; ++i) deviation = median / quantile_below(0.5, cut / deviation);
  return deviation;
}

SkewedMaxima::SkewedMaxima(const GaussianMaxima& gaussian, std::vector<double> heights, double cut)
    : gaussian_(gaussian) {
  std::sort(heights.begin(), heights.end());
  const double middle = gaussian.quantile_below(0.5, cut);
  const double from = quantile(heights, 0.5), to = std::min(cut, heights.back());
  std::vector<double> edges, counts;
  auto next = std::upper_bound(heights.begin(), heights.end(), from);
  for (std::size_t i = 1; i <= kBins; ++i) {
    edges.push_back(from + (to - from) * static_cast<double>(i) / kBins);
    const auto last = i < kBins ? std::upper_bound(next, heights.end(), edges.back()) : heights.end();
    counts.push_back(static_cast<double>(last - next));
    next = last;
  }
  double most = -kNone;
  for (int k = 0; k < kSkews; ++k) {
    Skewed law{kSkewStep * k, 1, 0};
    if (k > 0) law.scale = middle * law.skew / std::expm1(law.skew * middle);
    const double first = beyond(law, from), within = first - beyond(law, cut);
    law.weight = -law.skew / kUsualSkew;
    double before = first;
    for (std::size_t i = 0; i < kBins; ++i) {
      const double after = beyond(law, edges[i]);
      if (counts[i] > 0)
        law.weight += counts[i] * std::log(std::max((before - after) / within, kTinyWeight * kTinyWeight));
      before = after;
    }
    most = std::max(most, law.weight);
    laws_.push_back(law);
  }
  double sum = 0;
  for (Skewed& law : laws_) sum += law.weight = std::exp(law.weight - most);
  std::erase_if(laws_, [&](const Skewed& law) { return law.weight < kTinyWeight * sum; });
  for (Skewed& law : laws_) law.weight /= sum;
}

double SkewedMaxima::beyond(const Skewed& law, double height) const {
  const double u = height / law.scale;
  return gaussian_.beyond(law.skew > 0 && std::isfinite(u) ? std::log1p(law.skew * u) / law.skew : u);
}

double SkewedMaxima::beyond(double height) const {
  double sum = 0;
  for (const Skewed& law : laws_) sum += law.weight * beyond(law, height);
  return sum;
}

double SkewedMaxima::quantile_below(double share, double cut) const { return quantile_of(*this, share, cut); }

}  // namespace motes::tracking::detect
