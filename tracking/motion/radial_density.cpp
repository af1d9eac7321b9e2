#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include <motes/base/exact_math.h>
#include <motes/base/function_clones.h>
#include <motes/tracking/radial_density.h>

#include "tracking/motion/scale_mixture.h"

namespace motes::tracking {
namespace {

/// Bins have equal width up to at most kEven; beyond, each edge is kRatio times the one before.
constexpr std::size_t kBins = 32;
constexpr double kEven = 8, kRatio = 1.2;
/// The mixture counts as this share of the lengths, and at least this many, in the counts of bins.
constexpr double kPseudoShare = 0.02, kLeastPseudo = 30;
/// The bins nearest to 0, where a sphere has little volume, are pooled until this many lengths are expected:
/// between positions rounded to pixels, many displacements are exactly 0.
constexpr double kLeastExpected = 10;
/// Number of parts of a bin at which a density is summed.
constexpr int kParts = 4;

/// Volume of a ball of radius 1.
double ball(int dims) { return dims == 1 ? 2 : dims == 2 ? std::numbers::pi : 4 * std::numbers::pi / 3; }

/// log of the gamma function of x > 0 by Stirling's series. (The C library's writes to a global variable.)
double log_gamma(double x) {
  double below = 0;
  for (; x < 8; x += 1) below += std::log(x);
  const double z = 1 / (x * x);
  return (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) +
         (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z / 1680))) / x - below;
}

/// Linear interpolation at `place` in a table.
double between(const std::vector<double>& values, double place) {
  const auto low = std::min(static_cast<std::size_t>(place), values.size() - 2);
  return values[low] + (place - static_cast<double>(low)) * (values[low + 1] - values[low]);
}

/// The largest value from each place on.
std::vector<double> highest_from(std::vector<double> values) {
  for (std::size_t k = values.size() - 1; k-- > 0;) values[k] = std::max(values[k], values[k + 1]);
  return values;
}

/// A histogram of lengths, and the expectation of a density in its bins.
class Counts {
 public:
  /// `density`: at tabulated_lengths().
  Counts(std::span<const double> lengths, int dims, double top, const std::vector<double>& density) {
    for (std::size_t k = 0; k <= kBins; ++k)
      edge_.push_back(static_cast<double>(k) * std::min(top, kEven) / kBins);
    while (edge_.back() < top) edge_.push_back(std::min(top, edge_.back() * kRatio));
    count_.assign(edge_.size() - 1, 0);
    for (const double length : lengths)
      if (length < top) count_[bin_of(length)] += 1, all_ += 1;
    pseudo_ = std::max(kLeastPseudo, kPseudoShare * all_);
    double sum = 0;
    for (std::size_t k = 0; k < count_.size(); ++k) {
      double share = kLeastShare;
      const double part = (edge_[k + 1] - edge_[k]) / kParts;
      for (int p = 0; p < kParts; ++p) {
        const double low = edge_[k] + p * part, high = low + part;
        share += between(density, tabulated_place((low + high) / 2)) * ball(dims) *
                 (std::pow(high, dims) - std::pow(low, dims));
      }
      share_.push_back(share), sum += share;
    }
    for (double& share : share_) share /= sum;
    pool_first();
  }

  /// The probability that lengths follow a histogram around the density rather than the density itself. It
  /// compares the probabilities of the counts under both (Polya and multinomial), minus a penalty since the
  /// density is fitted to the same lengths.
  double needed() const {
    double nats = log_gamma(pseudo_) - log_gamma(pseudo_ + all_) - std::log(std::max(all_, 1.0));
    for (std::size_t k = 0; k < count_.size(); ++k) {
      const double expected = pseudo_ * share_[k];
      if (count_[k] > 0)
        nats += log_gamma(expected + count_[k]) - log_gamma(expected) - count_[k] * std::log(share_[k]);
    }
    return 1 / (1 + std::exp(-nats));
  }

  /// Ratio of the histogram's density to the other one, interpolated between bin centres.
  double ratio(double length) const {
    if (!(length < edge_.back())) return 1;
    const std::size_t bin = bin_of(length);
    const double middle = centre(bin);
    const std::size_t low = length < middle ? bin - 1 : bin;
    if ((bin == 0 && length <= middle) || low + 1 == count_.size()) return ratio_in(bin);
    const double part = (length - centre(low)) / (centre(low + 1) - centre(low));
    return ratio_in(low) + part * (ratio_in(low + 1) - ratio_in(low));
  }

 private:
  static constexpr double kLeastShare = 1e-12;

  void pool_first() {
    while (share_.size() > 1 && share_[0] * all_ < kLeastExpected) {
      share_[1] += share_[0], count_[1] += count_[0];
      share_.erase(share_.begin()), count_.erase(count_.begin()), edge_.erase(edge_.begin() + 1);
    }
  }
  std::size_t bin_of(double length) const {
    const auto above = std::upper_bound(edge_.begin(), edge_.end(), length);
    return std::min(static_cast<std::size_t>(above - edge_.begin()), edge_.size() - 1) - 1;
  }
  double centre(std::size_t bin) const { return (edge_[bin] + edge_[bin + 1]) / 2; }
  double ratio_in(std::size_t bin) const { return (count_[bin] / share_[bin] + pseudo_) / (all_ + pseudo_); }

  std::vector<double> edge_, count_, share_;
  double all_ = 0, pseudo_ = 0;
};

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

/// Number of lanes, the same on every machine.
constexpr std::size_t kLanes = 8;

/// Replaces the values of `u`; `size` is a multiple of kLanes.
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
  // sqrt(d * median of Fisher's F with d and 5 degrees of freedom).
  return dims == 1 ? 0.7267 : dims == 2 ? 1.2640 : 1.6500;
}

RadialDensity::RadialDensity(int dims) : dims_(dims) {
  static const auto of_student = [] {
    std::array<std::shared_ptr<const std::vector<double>>, 4> by_dims{};
    for (int d = 1; d <= 3; ++d) {
      std::vector<double> values;
      for (const double length : tabulated_lengths()) values.push_back(student_log_density(length, d));
      by_dims[static_cast<std::size_t>(d)] =
          std::make_shared<const std::vector<double>>(highest_from(values));
    }
    return by_dims;
  }();
  highest_ = of_student[static_cast<std::size_t>(dims)];
}

RadialDensity::RadialDensity(std::span<const double> lengths, int dims, double top) : dims_(dims) {
  std::vector<double> log_density = scale_mixture_density(lengths, dims);
  const Counts counts(lengths, dims, top, log_density);
  const double needed = counts.needed();
  for (std::size_t k = 0; k < log_density.size(); ++k)
    log_density[k] = std::log(log_density[k] * (1 - needed + needed * counts.ratio(tabulated_lengths()[k])));
  table_ = std::make_shared<const std::vector<double>>(log_density);
  highest_ = std::make_shared<const std::vector<double>>(highest_from(std::move(log_density)));
}

double RadialDensity::most_beyond(double u) const {
  const double here = log_density(u);
  if (!table_ || u >= tabulated_lengths().back()) return here;
  return std::max(here, (*highest_)[static_cast<std::size_t>(tabulated_place(u)) + 1]);
}

double RadialDensity::log_density(double u) const {
  if (!table_) return student_log_density(u, dims_);
  const double last = tabulated_lengths().back();
  if (u < last) return between(*table_, tabulated_place(u));
  return table_->back() + student_log_density(u, dims_) - student_log_density(last, dims_);
}

void RadialDensity::log_densities(std::vector<double>& u) const {
  if (table_) {
    for (double& one : u)
      one = one < kTabulatedEvenTo ? between(*table_, one * kTabulatedPerScale) : log_density(one);
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
                                : tabulated_lengths()[static_cast<std::size_t>(below - highest.begin())];
}

}  // namespace motes::tracking
