#pragma once
/// Frames padded with a constant, as by registration, deskewing, rotation or a round field of view.

#include <cstdint>
#include <optional>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/volume_frame.h>

namespace motes::tracking::detect {

/// A frame with its padding replaced by the mirror image of what it pads.
struct Unpadded {
  VolumeFrame frame;
  std::vector<std::uint8_t> is_data;  ///< [voxels, x fastest] 0: padding
};

/// Padding is one value, that of most corners, which fills rows from their ends on, farther than it would by
/// chance, and is rare elsewhere (up to a quarter of the voxels). None where a frame has less of it than a
/// voxel in two rows, or more than three quarters, or under 1000 voxels of data, where the data fade into it,
/// or for a frame in a file. The same for any number of threads. O(voxels).
std::optional<Unpadded> without_padding(const Execution& execution, const VolumeFrame& frame);

}  // namespace motes::tracking::detect
