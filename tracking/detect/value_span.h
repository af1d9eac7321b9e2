#pragma once
/// How far voxels may differ.

#include <string>

#include <motes/base/errors.h>
#include <motes/tracking/volume_frame.h>

#include "tracking/detect/frame_rows.h"

namespace motes::tracking::detect {

/// Squares of larger differences overflow in float32.
inline constexpr float kLargestSpan = 1e18F;

/// Throws InputError, naming the frame, where its voxels differ by more.
inline void check_span(const VolumeFrame& frame, const ValueRange& range) {
  if (range.high - range.low > kLargestSpan)
    throw InputError("frame " + std::to_string(frame.index) +
                     ": voxels differ by more than 1e18; divide them by a constant");
}

}  // namespace motes::tracking::detect
