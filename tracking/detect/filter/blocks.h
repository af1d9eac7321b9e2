#pragma once
/// The frame as windows around spots read it: its voxels, or means over blocks of voxels if spots are large.

#include <array>
#include <cstdint>
#include <vector>

#include "tracking/detect/filter/response.h"

namespace motes::tracking::detect {

using Index3 = std::array<std::int64_t, 3>;  // x, y, z
using Place = std::array<double, 3>;         // x, y, z; voxels or blocks

/// What windows read. Points to the frame, which must outlive it.
struct Source {
  const VolumeFrame* frame = nullptr;
  Index3 size{}, block{1, 1, 1};
  std::array<double, 3> sigma{};  ///< in blocks
  std::vector<float> means;       ///< [blocks], x fastest; empty if a block is a voxel

  /// Calls use(pointer to the voxels or means, x fastest).
  template <class Use>
  void read(const Use& use) const {
    if (means.empty())
      std::visit([&](const auto& voxels) { use(voxels.data()); }, frame->voxels);
    else
      use(means.data());
  }
  double to_blocks(double voxel, std::size_t axis) const {
    return (voxel + 0.5) / static_cast<double>(block[axis]) - 0.5;
  }
};

/// Axes along which the filter's sigma is above 3 voxels are binned to a sigma of 1.5 to 3 blocks. O(voxels),
/// or O(1) if no axis is binned.
Source make_source(const Execution& execution, const VolumeFrame& frame, const Filter& filter);

/// The same without the means.
Source block_geometry(const VolumeFrame& frame, const Filter& filter);

}  // namespace motes::tracking::detect
