#pragma once
/// The points of tracks, ordered by frame.

#include <cstdint>
#include <vector>

#include <motes/tracking/track_set.h>

namespace motes::io::detail {

struct FramePoints {
  std::vector<std::int32_t> frame;      ///< [frames] numbers of frames with points, rising
  std::vector<std::size_t> offsets{0};  ///< [frames + 1]
  std::vector<std::size_t> order;  ///< [points] frame f: [offsets[f], offsets[f + 1]), in the order of tracks

  std::size_t frames() const { return frame.size(); }
  std::vector<std::size_t> points_of(std::size_t f) const {
    return {order.data() + offsets[f], order.data() + offsets[f + 1]};
  }
};

/// The points of every `step`-th frame with points. O(points log frames).
FramePoints points_by_frame(const TrackSet& tracks, std::size_t step = 1);

/// The values that files of single points store, in the order of tracks.
struct PointFields {
  std::vector<std::int64_t> track_id;     ///< [points]
  std::vector<std::int64_t> parent;       ///< [points], or empty: no divisions known
  std::vector<std::int64_t> merged_into;  ///< [points], or empty: no merges known
  std::vector<float> speed;               ///< [points] point_speeds() of runs of `frame_step`
};

PointFields point_fields(const TrackSet& tracks, std::int32_t frame_step);

}  // namespace motes::io::detail
