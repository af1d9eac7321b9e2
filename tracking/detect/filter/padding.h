#pragma once
/// Frames padded with a constant, as by registration, deskewing, rotation or a round field of view.

#include <cstdint>
#include <optional>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/volume_frame.h>

namespace motes::tracking::detect {

/// A frame whose padding is replaced by the mirror image of the data.
struct Unpadded {
  VolumeFrame frame;
  std::vector<std::uint8_t> is_data;  ///< [voxels, x fastest] 0: padding
};

/// Padding is a constant, the value of most corners. It fills rows from their ends inwards, farther than
/// chance explains, and is rare elsewhere (at most a quarter of the other voxels). If a region of interest
/// was cut out, padding, of that or the lowest value, also fills rows between wide pieces of data; then two
/// voxels at the ends of each piece do not count as data. None for a frame with less padding than a voxel in
/// two rows, or more than three quarters, or with under 1000 voxels of data, or if the data fade into the
/// padding, or for a frame in a file. The same for any number of threads. O(voxels).
std::optional<Unpadded> without_padding(const Execution& execution, const VolumeFrame& frame);

}  // namespace motes::tracking::detect
