#pragma once
/// Particles of different mobility: the density of a displacement's length, given that of the neighbouring
/// link.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace motes::tracking {

/// The density of a length next to another one, over that of the length alone: 1 where nothing is known.
class SpeedDensity {
 public:
  /// Equal bins of the logarithm of a length, from 2^-12 to 2^4; lengths beyond are in the last ones.
  static std::size_t bin_of(double length);

  SpeedDensity() = default;
  /// From lengths of displacements and, of as many, of those beside: counts in groups of like length.
  /// O(n log n).
  SpeedDensity(std::span<const double> lengths, std::span<const double> beside);

  double log_ratio(std::size_t bin, std::size_t bin_beside) const {
    if (log_ratio_.empty()) return 0;
    return log_ratio_[group_[bin] * groups_ + group_beside_[bin_beside]];
  }

  /// Number of free parameters.
  double parameters() const {
    const double free = groups_ < 2 ? 0 : static_cast<double>(groups_ - 1);
    return free * free;
  }

 private:
  static constexpr std::size_t kBins = 64;
  std::size_t groups_ = 0;
  std::array<std::uint8_t, kBins> group_{}, group_beside_{};  ///< of each bin
  std::vector<double> log_ratio_;                             ///< [groups][groups beside]
};

}  // namespace motes::tracking
