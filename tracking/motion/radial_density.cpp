#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include <motes/base/exact_math.h>
#include <motes/tracking/radial_density.h>

namespace motes::tracking {
namespace {

constexpr std::size_t kBins = 32;
constexpr double kReachStep = 1.0 / 16;
/// Pseudo-counts: this share of the lengths, and at least this many.
constexpr double kPseudoShare = 0.02, kLeastPseudo = 30;

/// Volume of a ball of radius 1.
double ball(int dims) { return dims == 1 ? 2 : dims == 2 ? std::numbers::pi : 4 * std::numbers::pi / 3; }

template <class LogDensity>
std::shared_ptr<const std::vector<double>> highest_of(const LogDensity& log_density) {
  std::vector<double> highest(static_cast<std::size_t>(RadialDensity::kMostReach / kReachStep) + 1);
  for (std::size_t k = highest.size(); k-- > 0;) {
    highest[k] = log_density(static_cast<double>(k) * kReachStep);
    if (k + 1 < highest.size()) highest[k] = std::max(highest[k], highest[k + 1]);
  }
  return std::make_shared<const std::vector<double>>(std::move(highest));
}

}  // namespace

double student_log_density(double u, int dims) {
  constexpr double nu = kStudentFreedom;
  static const std::array<double, 4> norm = [] {
    std::array<double, 4> by_dims{};
    for (int d = 1; d <= 3; ++d)
      by_dims[static_cast<std::size_t>(d)] =
          std::lgamma((nu + d) / 2) - std::lgamma(nu / 2) - d / 2.0 * std::log(nu * std::numbers::pi);
    return by_dims;
  }();
  return norm[static_cast<std::size_t>(dims)] - (nu + dims) / 2 * exact_log(1 + u * u / nu);
}

double student_median(int dims) {
  // sqrt(d x the median of Fisher's F with d and 5 degrees of freedom).
  return dims == 1 ? 0.7267 : dims == 2 ? 1.2640 : 1.6500;
}

RadialDensity::RadialDensity(int dims) : dims_(dims) {
  static const auto of_student = [] {
    std::array<std::shared_ptr<const std::vector<double>>, 4> by_dims{};
    for (int d = 1; d <= 3; ++d)
      by_dims[static_cast<std::size_t>(d)] = highest_of([&](double u) { return student_log_density(u, d); });
    return by_dims;
  }();
  highest_ = of_student[static_cast<std::size_t>(dims)];
}

RadialDensity::RadialDensity(std::span<const double> lengths, int dims, double top) : dims_(dims) {
  width_ = top / kBins;
  density_.assign(kBins, 0);
  double inside = 0;
  for (const double length : lengths) {
    const auto bin = static_cast<std::size_t>(length / width_);
    if (length < top && bin < kBins) density_[bin] += 1, inside += 1;
  }
  const double pseudo = std::max(kLeastPseudo, kPseudoShare * inside), all = inside + pseudo;
  tail_log_share_ = std::log(pseudo / all);
  for (std::size_t k = 0; k < kBins; ++k) {
    const double low = static_cast<double>(k) * width_, high = low + width_;
    const double volume = ball(dims) * (std::pow(high, dims) - std::pow(low, dims));
    density_[k] =
        density_[k] / all / volume + pseudo / all * std::exp(student_log_density((low + high) / 2, dims));
  }
  beyond_ = density_;
  for (std::size_t k = kBins - 1; k-- > 0;) beyond_[k] = std::max(beyond_[k], beyond_[k + 1]);
  highest_ = highest_of([&](double u) { return log_density(u); });
}

double RadialDensity::most_beyond(double u) const {
  const double here = log_density(u);
  if (width_ == 0) return here;
  const double top = width_ * kBins, tail = tail_log_share_ + student_log_density(std::max(u, top), dims_);
  const double place = u / width_ - 0.5;
  const auto next = place <= 0 ? std::size_t{0} : static_cast<std::size_t>(std::min(place + 1, 1.0 * kBins));
  return std::max({here, tail, next < kBins ? std::log(beyond_[next]) : tail});
}

double RadialDensity::log_density(double u) const {
  if (width_ == 0) return student_log_density(u, dims_);
  const double place = u / width_ - 0.5;
  if (place >= static_cast<double>(kBins - 1)) {
    if (u < width_ * kBins) return std::log(density_.back());
    return tail_log_share_ + student_log_density(u, dims_);
  }
  if (place <= 0) return std::log(density_.front());
  const auto k = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(k);
  return std::log(density_[k] + part * (density_[k + 1] - density_[k]));
}

double RadialDensity::reach(double level) const {
  const std::vector<double>& highest = *highest_;
  const auto below =
      std::partition_point(highest.begin(), highest.end(), [&](double h) { return h > level; });
  return std::min(static_cast<double>(below - highest.begin()) * kReachStep, kMostReach);
}

}  // namespace motes::tracking
