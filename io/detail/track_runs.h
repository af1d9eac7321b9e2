#pragma once
/// Tracks cut where frames are missing.

#include <cstdint>
#include <vector>

#include "tracking/types/track_set.h"

namespace motes::io::detail {

/// Points [begin, end) of one track, each a frame step after the one before.
struct Run {
  std::size_t track, begin, end;
  std::size_t size() const { return end - begin; }
};

/// The runs of all tracks, in the order of the points; a point without neighbours is a run of one.
std::vector<Run> cut_runs(const TrackSet& tracks, std::int32_t frame_step);

/// Per point the way along its run to both neighbours over the time that takes: length unit per s, or per
/// frame where dt_s is unknown. NaN for a run of one. Derived, so single precision is enough.
std::vector<float> point_speeds(const TrackSet& tracks, const std::vector<Run>& runs);

}  // namespace motes::io::detail
