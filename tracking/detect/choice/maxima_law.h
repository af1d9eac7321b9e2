#pragma once
/// The distribution of the heights of noise maxima in the filter's response.

#include <array>
#include <span>
#include <vector>

namespace motes::tracking::detect {

/// Maxima of a Gaussian random field, in units of its standard deviation.
class GaussianMaxima {
 public:
  explicit GaussianMaxima(int dimensions);
  /// Share of the maxima that exceed u deviations.
  double beyond(double u) const;
  /// The quantile `share` of the maxima below `cut`, in deviations.
  double quantile_below(double share, double cut) const;
  /// The standard deviation of noise whose maxima below `cut` have this median; both are responses.
  double deviation(double median, double cut) const;

 private:
  int dimensions_;
  const std::array<double, 9>& exceed_;
};

/// Maxima of a skewed field, in deviations of the Gaussian field whose maxima have the same median. The skew
/// is not known: shares are means over all skews, weighted by their likelihood.
class SkewedMaxima {
 public:
  /// `heights` [n]: of maxima of noise, all below `cut`. O(n).
  SkewedMaxima(const GaussianMaxima& gaussian, std::vector<double> heights, double cut);
  /// Share of the maxima that exceed `height`.
  double beyond(double height) const;
  double quantile_below(double share, double cut) const;

 private:
  struct Skewed {
    double skew = 0, scale = 1, weight = 0;
  };
  double beyond(const Skewed& law, double height) const;

  const GaussianMaxima& gaussian_;
  std::vector<Skewed> laws_;
};

}  // namespace motes::tracking::detect
