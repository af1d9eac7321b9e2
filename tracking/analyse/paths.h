#pragma once
/// The tracks to analyse, with drift subtracted if that was asked for.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::tracking::analysis {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Paths {
  std::vector<std::size_t> begin{0};  ///< [tracks + 1]
  std::vector<std::int32_t> frame;    ///< [points]
  std::vector<Vec3> at;               ///< [points]
  std::int32_t step = 1;
  int dims = 0;

  std::size_t tracks() const { return begin.size() - 1; }
};

/// Sums over tracks of a quantity and its count, for the mean and its error between tracks.
class MeanOverTracks {
 public:
  void add(double sum, double count) {
    if (!(count > 0)) return;
    ++tracks_, sum_ += sum, count_ += count;
    sum2_ += sum * sum, both_ += sum * count, count2_ += count * count;
  }
  double mean() const { return count_ > 0 ? sum_ / count_ : kUnknown; }
  double error() const {
    if (tracks_ < 2) return kUnknown;
    const double m = mean(), n = static_cast<double>(tracks_);
    const double squares = sum2_ - 2 * m * both_ + m * m * count2_;
    return std::sqrt(n / (n - 1) * (squares > 0 ? squares : 0)) / count_;
  }
  double count() const { return count_; }
  std::int64_t tracks() const { return tracks_; }

 private:
  std::int64_t tracks_ = 0;
  double sum_ = 0, count_ = 0, sum2_ = 0, both_ = 0, count2_ = 0;
};

/// Sums over a track of the squares of one-step displacements and of the products of successive ones.
struct StepSums {
  double squares = 0, products = 0, steps = 0, neighbours = 0;
};
StepSums step_sums(const Paths& paths, std::size_t track);

/// Diffusion coefficient from the covariance of successive displacements; `interval`: time of one step.
double diffusion_of(const StepSums& sums, int dims, double interval);

}  // namespace motes::tracking::analysis
