#pragma once
/// How high the maxima of noise are in the filter's response.

#include <array>
#include <span>
#include <vector>

namespace motes::tracking::detect {

/// Of a Gaussian random field, in its standard deviations.
class GaussianMaxima {
 public:
  explicit GaussianMaxima(int dimensions);
  /// Share of the maxima that exceed u deviations.
  double beyond(double u) const;
  /// The deviations below which lies a share of those maxima that lie below `cut`.
  double quantile_below(double share, double cut) const;
  /// Deviation of noise whose maxima below `cut` (in responses) have this median.
  double deviation(double median, double cut) const;

 private:
  int dimensions_;
  const std::array<double, 9>& exceed_;
};

/// Of a skewed field, in deviations of the Gaussian field that has as many maxima below and above their
/// median. The skew is not known: shares are means over all skews, each weighted by its likelihood.
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
