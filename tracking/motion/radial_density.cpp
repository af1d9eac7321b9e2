#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include <motes/base/exact_math.h>
#include <motes/base/function_clones.h>
#include <motes/tracking/radial_density.h>

namespace motes::tracking {
namespace {

/// Bins of one width to at most kEven, and from there on each kRatio times as far.
constexpr std::size_t kBins = 32;
constexpr double kEven = 8, kRatio = 1.2;
constexpr double kReachStep = 1.0 / 16, kEvenReach = 24, kReachRatio = 1.05;
/// Pseudo-counts: this share of the lengths, and at least this many.
constexpr double kPseudoShare = 0.02, kLeastPseudo = 30;

/// Volume of a ball of radius 1.
double ball(int dims) { return dims == 1 ? 2 : dims == 2 ? std::numbers::pi : 4 * std::numbers::pi / 3; }

/// Multiples of kReachStep to kEvenReach, and from there on each kRatio times as far.
const std::vector<double>& reach_steps() {
  static const std::vector<double> steps = [] {
    std::vector<double> out;
    for (double u = 0; u <= kEvenReach; u += kReachStep) out.push_back(u);
    while (out.back() < RadialDensity::kMostReach) out.push_back(out.back() * kReachRatio);
    return out;
  }();
  return steps;
}

template <class LogDensity>
std::shared_ptr<const std::vector<double>> highest_of(const LogDensity& log_density) {
  std::vector<double> highest(reach_steps().size());
  for (std::size_t k = highest.size(); k-- > 0;) {
    highest[k] = log_density(reach_steps()[k]);
    if (k + 1 < highest.size()) highest[k] = std::max(highest[k], highest[k + 1]);
  }
  return std::make_shared<const std::vector<double>>(std::move(highest));
}

}  // namespace

namespace {

double student_norm(int dims) {
  constexpr double nu = kStudentFreedom;
  static const std::array<double, 4> norm = [] {
    std::array<double, 4> by_dims{};
    for (int d = 1; d <= 3; ++d)
      by_dims[static_cast<std::size_t>(d)] =
          std::lgamma((nu + d) / 2) - std::lgamma(nu / 2) - d / 2.0 * std::log(nu * std::numbers::pi);
    return by_dims;
  }();
  return norm[static_cast<std::size_t>(dims)];
}
double student_ratio(double u) { return 1 + u * u / kStudentFreedom; }
double student_power(int dims) { return (kStudentFreedom + dims) / 2; }

/// On every machine in so many lanes.
constexpr std::size_t kLanes = 8;

/// Of whole lanes, in their place.
MOTES_CLONES void student_log_densities(double* u, std::size_t size, double norm, double power) {
  for (std::size_t k = 0; k < size; k += kLanes)
    for (std::size_t l = k; l < k + kLanes; ++l)
      u[l] = norm - power * exact_log_of_normal(1 + u[l] * u[l] / kStudentFreedom);
}

}  // namespace

double student_log_density(double u, int dims) {
  return student_norm(dims) - student_power(dims) * exact_log(student_ratio(u));
}

double student_density(double u, int dims) {
  static const std::array<double, 4> norm{1, std::exp(student_norm(1)), std::exp(student_norm(2)),
                                          std::exp(student_norm(3))};
  const double r = student_ratio(u), cube = r * r * r;
  return norm[static_cast<std::size_t>(dims)] / (dims == 1   ? cube
                                                 : dims == 2 ? cube * std::sqrt(r)
                                                             : cube * r);
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
  width_ = std::min(top, kEven) / kBins;
  for (std::size_t k = 0; k <= kBins; ++k) edge_.push_back(static_cast<double>(k) * width_);
  while (edge_.back() < top) edge_.push_back(std::min(top, edge_.back() * kRatio));
  const std::size_t bins = edge_.size() - 1;
  density_.assign(bins, 0);
  double inside = 0;
  for (const double length : lengths)
    if (length < top) density_[bin_of(length)] += 1, inside += 1;
  const double pseudo = std::max(kLeastPseudo, kPseudoShare * inside), all = inside + pseudo;
  tail_log_share_ = std::log(pseudo / all);
  for (std::size_t k = 0; k < bins; ++k) {
    const double low = edge_[k], high = edge_[k + 1];
    const double volume = ball(dims) * (std::pow(high, dims) - std::pow(low, dims));
    density_[k] =
        density_[k] / all / volume + pseudo / all * std::exp(student_log_density((low + high) / 2, dims));
  }
  beyond_ = density_;
  for (std::size_t k = bins - 1; k-- > 0;) beyond_[k] = std::max(beyond_[k], beyond_[k + 1]);
  highest_ = highest_of([&](double u) { return log_density(u); });
}

std::size_t RadialDensity::bin_of(double u) const {
  const auto even = static_cast<std::size_t>(u / width_);
  if (even < kBins) return even;
  const auto above = std::upper_bound(edge_.begin() + kBins, edge_.end(), u);
  return std::min(static_cast<std::size_t>(above - edge_.begin()), edge_.size() - 1) - 1;
}

double RadialDensity::most_beyond(double u) const {
  const double here = log_density(u);
  if (width_ == 0) return here;
  const double tail = tail_log_share_ + student_log_density(std::max(u, edge_.back()), dims_);
  if (!(u < edge_.back())) return std::max(here, tail);
  // Towards the next bin's centre the density is on its way to that bin's.
  const std::size_t bin = bin_of(u), next = u < centre(bin) ? bin : bin + 1;
  return std::max({here, tail, next < density_.size() ? std::log(beyond_[next]) : tail});
}

double RadialDensity::log_density(double u) const {
  if (width_ == 0) return student_log_density(u, dims_);
  if (!(u < edge_.back())) return tail_log_share_ + student_log_density(u, dims_);
  const std::size_t bin = bin_of(u);
  const double middle = centre(bin);
  const std::size_t low = u < middle ? bin - 1 : bin, high = low + 1;
  if ((bin == 0 && u <= middle) || high == density_.size()) return std::log(density_[bin]);
  const double part = (u - centre(low)) / (centre(high) - centre(low));
  return std::log(density_[low] + part * (density_[high] - density_[low]));
}

void RadialDensity::log_densities(std::vector<double>& u) const {
  if (width_ != 0) {
    for (double& one : u) one = log_density(one);
    return;
  }
  const std::size_t size = u.size();
  u.resize((size + kLanes - 1) / kLanes * kLanes);
  student_log_densities(u.data(), u.size(), student_norm(dims_), student_power(dims_));
  u.resize(size);
}

double RadialDensity::reach(double level) const {
  const std::vector<double>& highest = *highest_;
  const auto below =
      std::partition_point(highest.begin(), highest.end(), [&](double h) { return h > level; });
  return below == highest.end() ? kMostReach
                                : reach_steps()[static_cast<std::size_t>(below - highest.begin())];
}

}  // namespace motes::tracking
