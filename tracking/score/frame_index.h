#pragma once
/// The points of a track set ordered by frame, and the checks of input for all scores.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <motes/tracking/geometry.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking::detail {

/// Points by frame, in CSR form over the frames that occur. Points are numbered as in the TrackSet.
struct FrameIndex {
  std::vector<std::int32_t> frames;          ///< [slots] ascending, each frame once
  std::vector<std::int64_t> offsets;         ///< [slots + 1]
  std::vector<std::int64_t> point;           ///< [points] in order of frame, then of track
  std::vector<std::int32_t> track_of_point;  ///< [points]

  std::int64_t slots() const { return static_cast<std::int64_t>(frames.size()); }
  std::span<const std::int64_t> points_of_slot(std::int64_t slot) const;
  /// The points of that frame; empty if it does not occur. O(log slots).
  std::span<const std::int64_t> points_of_frame(std::int32_t frame) const;
};

/// O(points log points).
FrameIndex index_frames(const TrackSet& tracks);

inline Vec3 position(const TrackSet& tracks, std::int64_t point) {
  const auto p = static_cast<std::size_t>(point);
  return {tracks.x_um[p], tracks.y_um[p], tracks.z_um[p]};
}

/// Throws InputError, naming the set ("the true tracks"), track and frame, for a track without points,
/// negative or repeated (or falling) frames and positions that are not finite. O(points).
void check_tracks(const TrackSet& tracks, const std::string& name);

/// Throws UsageError for a gate that is not a number from 1e-100 to 1e100 (its square must be a number too).
void check_gate(double gate, const std::string& name);

}  // namespace motes::tracking::detail
