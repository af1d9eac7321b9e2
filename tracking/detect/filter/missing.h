#pragma once
/// Voxels that are NaN, as at the borders of registered stacks.

#include <cstdint>
#include <optional>

#include <motes/base/execution.h>
#include <motes/tracking/volume_frame.h>

#include "tracking/detect/filter/padding.h"

namespace motes::tracking::detect {

/// Number of voxels that are NaN; 0 for frames in files, in which NaN is an error. O(voxels).
std::int64_t missing_voxels(const Execution& execution, const VolumeFrame& frame);

/// The frame with NaN replaced by the mirror image of the nearest data along x, y or z, and which voxels are
/// data. If all voxels are NaN, they become 0. None without NaN. The same for any number of threads.
/// O(voxels).
std::optional<Unpadded> without_missing(const Execution& execution, const VolumeFrame& frame);

}  // namespace motes::tracking::detect
