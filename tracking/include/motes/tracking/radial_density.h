#pragma once
/// Densities of displacements that depend on their length alone: Student's t, and histograms found in data.

#include <memory>
#include <span>
#include <vector>

namespace motes::tracking {

/// Degrees of freedom of the Student t that residual displacements are taken to follow before there are
/// enough of them for a histogram. Gaussian tails are too thin: a few particles always move farther.
inline constexpr double kStudentFreedom = 5;

/// log of the density, per unit volume, of a Student t of unit scale in `dims` (1 to 3) dimensions at
/// distance u >= 0 from its centre.
double student_log_density(double u, int dims);
/// The density itself, up to rounding; without a logarithm.
double student_density(double u, int dims);

/// The median distance from the centre of that Student t: median length / this = its scale.
double student_median(int dims);

/// A density by distance from the centre: the mixture of Gaussians of different scales that fits lengths best
/// (Kiefer, Wolfowitz 1956), which is smooth and falls; as far as lengths tell that they do not follow it, as
/// those of particles of one speed do not, a histogram of them. No length is impossible.
class RadialDensity {
 public:
  /// The Student t alone.
  explicit RadialDensity(int dims = 3);
  /// From lengths in units of the scale; the histogram has bins from 0 to `top`. O(lengths).
  RadialDensity(std::span<const double> lengths, int dims, double top);

  double log_density(double u) const;
  /// The same of all of `u`, in its place; of the Student t alone several times as fast.
  void log_densities(std::vector<double>& u) const;
  /// The smallest multiple of 1/16 from which on log_density stays below `level`, at most kMostReach.
  double reach(double level) const;
  static constexpr double kMostReach = 1000;
  /// The largest log_density at u or beyond it.
  double most_beyond(double u) const;

 private:
  int dims_;
  std::shared_ptr<const std::vector<double>> table_;    ///< log_density by length; null: the Student t
  std::shared_ptr<const std::vector<double>> highest_;  ///< the largest log_density from each length on
};

}  // namespace motes::tracking
