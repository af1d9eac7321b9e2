#pragma once
/// Poisson numbers of one mean, fast: for the background, which is the same in every voxel.

#include <cstdint>
#include <vector>

namespace motes::sim::detail {

/// Turns a random 32-bit word into a Poisson number by inversion. The summed probabilities are rounded to
/// multiples of 2^-32, so no probability is off by more than 2^-32. Built in O(sqrt(mean)) memory.
class PhotonTable {
 public:
  explicit PhotonTable(double mean);  ///< mean in [0, 65535]

  std::int32_t photons(std::uint32_t word) const {
    std::size_t i = guide_[word >> kGuideShift];
    while (word >= upper_[i]) ++i;
    return first_ + static_cast<std::int32_t>(i);
  }

 private:
  static constexpr int kGuideBits = 10, kGuideShift = 32 - kGuideBits;
  std::int32_t first_ = 0;            ///< the photons that upper_[0] stands for
  std::vector<std::uint64_t> upper_;  ///< 2^32 * P(number <= first_ + i); the last is 2^32
  std::vector<std::uint32_t> guide_;  ///< [2^kGuideBits] where the search starts for the word's leading bits
};

}  // namespace motes::sim::detail
