#pragma once
/// Runs: parts of tracks without missing frames.

#include <cstdint>
#include <vector>

#include <motes/tracking/track_set.h>

namespace motes {

/// Points [begin, end) of one track, each one frame step after the point before.
struct TrackRun {
  std::size_t track, begin, end;
  std::size_t size() const { return end - begin; }
};

/// The frame step of the series: the smallest difference of frames within a track. 1 if no track has two
/// points.
std::int32_t frame_step_of(const TrackSet& tracks);

/// The runs of all tracks in the order of the points; a point without neighbours is a run of one. O(points).
std::vector<TrackRun> cut_runs(const TrackSet& tracks, std::int32_t frame_step);

/// [points] speed: the path through both neighbours in its run divided by its time, in length units per s, or
/// per frame if dt_s is unknown. NaN for a run of one. Single precision is enough for a derived value.
/// O(points).
std::vector<float> point_speeds(const TrackSet& tracks, const std::vector<TrackRun>& runs);

}  // namespace motes
