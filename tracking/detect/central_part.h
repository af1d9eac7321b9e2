#pragma once
/// The part of a large frame that estimates look at.

#include <motes/tracking/volume_frame.h>

namespace motes::tracking::detect {

/// Central part of a frame with at most about 2^21 voxels; z is kept longest, being short.
VolumeFrame central_part(const VolumeFrame& frame);

}  // namespace motes::tracking::detect
