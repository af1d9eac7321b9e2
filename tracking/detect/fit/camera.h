#pragma once
/// The camera model in the units of fits, and the noise that fits measure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <motes/tracking/camera.h>

#include "tracking/detect/fit/fit_noise.h"

namespace motes::tracking::detect {

/// The model of means over blocks of `voxels` voxels.
CameraModel camera_of_blocks(const CameraModel& camera, std::int64_t voxels);

/// The noise of voxels from the sums of fits to blocks; none if the sums are empty. `voxels`: of a block.
std::optional<VoxelNoise> voxel_noise(const NoiseSums& sums, std::int64_t voxels, std::size_t spots);

/// A warning if the noise is far from the camera model's; else none.
std::optional<std::string> doubt_of_camera(const CameraModel& camera, const VoxelNoise& noise);

}  // namespace motes::tracking::detect
