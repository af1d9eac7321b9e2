#pragma once
/// Limits of the differences between voxels.

#include <string>

#include <motes/base/errors.h>
#include <motes/tracking/volume_frame.h>

#include "tracking/detect/filter/frame_rows.h"

namespace motes::tracking::detect {

/// Squares of larger differences overflow in float32; squares of smaller ones become 0.
inline constexpr float kLargestSpan = 1e18F, kSmallestSpan = 1e-18F;

/// Throws InputError, naming the frame, if its voxels differ by more than kLargestSpan, or by less than
/// kSmallestSpan but not 0.
inline void check_span(const VolumeFrame& frame, const ValueRange& range) {
  const float span = range.high - range.low;
  if (span > 0 && span < kSmallestSpan)
    throw InputError("frame " + std::to_string(frame.index) +
                     ": voxels differ by less than 1e-18; multiply them by a constant");
  if (span > kLargestSpan)
    throw InputError("frame " + std::to_string(frame.index) +
                     ": voxels differ by more than 1e18; divide them by a constant");
}

}  // namespace motes::tracking::detect
