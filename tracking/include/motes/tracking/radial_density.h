#pragma once
/// Probability densities of displacements that depend only on length: Student's t, and densities fitted to
/// data.

#include <memory>
#include <span>
#include <vector>

namespace motes::tracking {

/// Degrees of freedom of the Student t that is assumed for residual displacements while there are too few for
/// a fit. Gaussian tails are too thin: a few particles always move farther.
inline constexpr double kStudentFreedom = 5;

/// log of the density, per unit volume, of a Student t of scale 1 in `dims` (1 to 3) dimensions at distance u
/// >= 0 from its centre.
double student_log_density(double u, int dims);
/// The exponential of student_log_density, up to rounding; computed without a logarithm.
double student_density(double u, int dims);

/// The median distance from the centre of that Student t. The scale of a sample is its median length divided
/// by this.
double student_median(int dims);

/// A density as a function of the distance from the centre, fitted to lengths. It is the mixture of Gaussians
/// of different scales that fits best (Kiefer, Wolfowitz 1956), which is smooth and falls. Where the lengths
/// clearly deviate from it (such as those of particles of equal speed), a histogram of them has weight
/// instead. The density is nowhere 0.
class RadialDensity {
 public:
  /// The Student t.
  explicit RadialDensity(int dims = 3);
  /// Fitted to lengths in units of the scale; the histogram has bins from 0 to `top`. O(lengths).
  RadialDensity(std::span<const double> lengths, int dims, double top);

  double log_density(double u) const;
  /// Replaces each value of `u` by its log_density; several times as fast as log_density for the Student t.
  void log_densities(std::vector<double>& u) const;
  /// The smallest multiple of 1/16 beyond which log_density stays below `level`, at most kMostReach.
  double reach(double level) const;
  static constexpr double kMostReach = 1000;
  /// The largest log_density at u or beyond it.
  double most_beyond(double u) const;

 private:
  int dims_;
  std::shared_ptr<const std::vector<double>> table_;  ///< log_density by length; null: the Student t
  /// The largest log_density at each length or beyond it.
  std::shared_ptr<const std::vector<double>> highest_;
};

}  // namespace motes::tracking
