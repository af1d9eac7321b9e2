#pragma once
/// Checked access to a frame's voxels as float rows, whatever their type.

#include <limits>

#include <motes/base/execution.h>
#include <motes/tracking/volume_frame.h>

namespace motes::tracking::detect {

/// Smallest and largest voxel value; both 0 for a frame without voxels.
struct ValueRange {
  float low = 0, high = 0;
};

/// Values beyond this would overflow while they are summed up.
constexpr float kLargestVoxel = std::numeric_limits<float>::max() / 1e6F;

/// Throws InputError unless the sizes agree and the voxel size is positive and finite.
void check_sizes(const VolumeFrame& frame);

/// Throws InputError unless the frame is sound: sizes agree, the voxel size is positive and finite, and every
/// voxel is finite (the message names the frame and the first bad voxel in storage order). O(voxels).
ValueRange check_frame(const Execution& execution, const VolumeFrame& frame);

/// out[x] = voxel (z, y, x) - offset, x in [begin, begin + n).
void read_row(const VolumeFrame& frame, std::int64_t z, std::int64_t y, std::int64_t begin, std::int64_t n,
              float offset, float* out);

}  // namespace motes::tracking::detect
