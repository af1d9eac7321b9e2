#pragma once
/// The part of a large frame that estimates use.

#include <motes/tracking/volume_frame.h>

namespace motes::tracking::detect {

/// Central part of a frame with at most about 2^21 voxels, cut along its longest axes.
VolumeFrame central_part(const VolumeFrame& frame);

}  // namespace motes::tracking::detect
