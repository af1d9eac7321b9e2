#pragma once
/// Matches found positions to true ones.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/track_set.h>

#include "tracking/score/frame_index.h"

namespace motes::tracking::detail {

/// [found points] the true point matched to each found point, -1 none. In each frame the matching minimises
/// the sum of squared distances of matched positions (strictly nearer than the gate) + gate^2 for every free
/// end.
std::vector<std::int64_t> match_positions(const Execution& execution, const TrackSet& truth,
                                          const TrackSet& found, const FrameIndex& true_frames, double gate);

}  // namespace motes::tracking::detail
