#pragma once
/// Particles of different mobility: how the length of a displacement depends on that of the neighbouring
/// link.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace motes::tracking {

/// The ratio of the density of a length, given the length of the neighbouring link, to its density without
/// this condition. 1 if nothing is known.
class SpeedDensity {
 public:
  /// The bin of a length. Bins are equal in the logarithm, from 2^-12 to 2^4; lengths beyond are in the first
  /// or last bin.
  static std::size_t bin_of(double length);

  SpeedDensity() = default;
  /// Estimated from the lengths [n] of displacements and of their neighbours, by counts in groups of similar
  /// lengths. O(n log n).
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
  std::array<std::uint8_t, kBins> group_{}, group_beside_{};  ///< group of each bin
  std::vector<double> log_ratio_;                             ///< [groups][groups beside]
};

}  // namespace motes::tracking
