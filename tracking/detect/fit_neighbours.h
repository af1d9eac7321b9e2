#pragma once
/// Which spots lie within a box around each.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tracking/detect/blocks.h"

namespace motes::tracking::detect {

class SpotNeighbours {
 public:
  SpotNeighbours() = default;
  /// Those not farther than `reach` along any axis. The same for any thread count. O(n log n + n m), m the
  /// spots within reach along x.
  SpotNeighbours(int threads, std::span<const Place> places, const Place& reach);

  /// In ascending order, without the spot itself.
  std::span<const std::uint32_t> of(std::size_t spot) const {
    return {neighbours_.data() + offsets_[spot], offsets_[spot + 1] - offsets_[spot]};
  }

  /// [spots + 1], into all().
  std::span<const std::size_t> offsets() const { return offsets_; }
  std::span<const std::uint32_t> all() const { return neighbours_; }

 private:
  std::vector<std::size_t> offsets_{0};
  std::vector<std::uint32_t> neighbours_;
};

}  // namespace motes::tracking::detect
