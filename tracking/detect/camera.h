#pragma once
/// The camera model in the units of fits, and what fits tell of it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <motes/tracking/camera.h>

#include "tracking/detect/fit_noise.h"

namespace motes::tracking::detect {

/// That of means over blocks of so many voxels.
CameraModel camera_of_blocks(const CameraModel& camera, std::int64_t voxels);

/// None where the sums are empty. `voxels`: of a block.
std::optional<VoxelNoise> voxel_noise(const NoiseSums& sums, std::int64_t voxels, std::size_t spots);

/// A warning where the noise is far from what the camera model says.
std::optional<std::string> doubt_of_camera(const CameraModel& camera, const VoxelNoise& noise);

}  // namespace motes::tracking::detect
