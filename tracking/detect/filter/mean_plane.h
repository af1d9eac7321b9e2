#pragma once
/// The mean of a stack's planes.

#include <motes/tracking/volume_frame.h>

namespace motes::tracking::detect {

/// One plane: the mean along z, with the frame's voxel size. O(voxels).
VolumeFrame mean_of_planes(const VolumeFrame& frame);

}  // namespace motes::tracking::detect
