#pragma once
/// For each spot, the other spots within a box around it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tracking/detect/filter/blocks.h"

namespace motes::tracking::detect {

class SpotNeighbours {
 public:
  SpotNeighbours() = default;
  /// Neighbours are within `reach` along every axis. The same for any thread count. O(n log n + n m), where m
  /// is the number of spots within reach along x.
  SpotNeighbours(int threads, std::span<const Place> places, const Place& reach);

  /// The neighbours of `spot` in ascending order, without the spot itself.
  std::span<const std::uint32_t> of(std::size_t spot) const {
    return {neighbours_.data() + offsets_[spot], offsets_[spot + 1] - offsets_[spot]};
  }

  /// [spots + 1] where each spot's neighbours begin in all().
  std::span<const std::size_t> offsets() const { return offsets_; }
  std::span<const std::uint32_t> all() const { return neighbours_; }

 private:
  std::vector<std::size_t> offsets_{0};
  std::vector<std::uint32_t> neighbours_;
};

}  // namespace motes::tracking::detect
