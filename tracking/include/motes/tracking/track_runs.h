#pragma once
/// Runs of tracks: stretches without missing frames.

#include <cstdint>
#include <vector>

#include <motes/tracking/track_set.h>

namespace motes {

/// Points [begin, end) of one track, each a frame step after the one before.
struct TrackRun {
  std::size_t track, begin, end;
  std::size_t size() const { return end - begin; }
};

/// The smallest distance of frames within a track: one step of the series. 1 where no track has two points.
std::int32_t frame_step_of(const TrackSet& tracks);

/// The runs of all tracks, in the order of the points; a point without neighbours is a run of one.
std::vector<TrackRun> cut_runs(const TrackSet& tracks, std::int32_t frame_step);

/// The speed at each point: the path to both neighbours in its run over its time, in length units per s, or
/// per frame where dt_s is unknown. NaN for a run of one. Derived, so single precision is enough.
std::vector<float> point_speeds(const TrackSet& tracks, const std::vector<TrackRun>& runs);

}  // namespace motes
