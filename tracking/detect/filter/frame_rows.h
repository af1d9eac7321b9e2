#pragma once
/// Checked access to a frame's voxels as rows of floats, for every voxel type.

#include <limits>

#include <motes/base/execution.h>
#include <motes/tracking/volume_frame.h>

namespace motes::tracking::detect {

/// Smallest and largest voxel value; both 0 for a frame without voxels.
struct ValueRange {
  float low = 0, high = 0;
};

/// Sums of larger values could overflow.
constexpr float kLargestVoxel = std::numeric_limits<float>::max() / 1e6F;

/// Throws InputError unless the sizes agree and the voxel size is positive and finite.
void check_sizes(const VolumeFrame& frame);

/// The range of the frame's values. Throws InputError unless sizes agree, the voxel size is positive and
/// finite, and every voxel is finite and at most kLargestVoxel in magnitude (the message names the frame and
/// the first bad voxel in storage order). O(voxels).
ValueRange check_frame(const Execution& execution, const VolumeFrame& frame);

/// out[x] = voxel (z, y, x) - offset, x in [begin, begin + n).
void read_row(const VolumeFrame& frame, std::int64_t z, std::int64_t y, std::int64_t begin, std::int64_t n,
              float offset, float* out);

}  // namespace motes::tracking::detect
