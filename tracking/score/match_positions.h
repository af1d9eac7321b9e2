#pragma once
/// Which found position is which true one.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/track_set.h>

#include "tracking/score/frame_index.h"

namespace motes::tracking::detail {

/// The true point of each found point, -1 none: [found points]. In each frame the sum of squared distances of
/// matched positions (strictly nearer than the gate) + gate^2 for every free end is least.
std::vector<std::int64_t> match_positions(const Execution& execution, const TrackSet& truth,
                                          const TrackSet& found, const FrameIndex& true_frames, double gate);

}  // namespace motes::tracking::detail
