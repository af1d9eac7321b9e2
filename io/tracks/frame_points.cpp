#include "io/tracks/frame_points.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <motes/tracking/track_runs.h>

namespace motes::io::detail {

FramePoints points_by_frame(const TrackSet& tracks) {
  FramePoints out;
  const std::set<std::int32_t> frames(tracks.frame.begin(), tracks.frame.end());
  out.frame.assign(frames.begin(), frames.end());
  std::vector<std::size_t> index(tracks.points());
  out.offsets.assign(out.frames() + 1, 0);
  for (std::size_t i = 0, f = 0; i < tracks.points(); ++i) {
    if (f + 1 < out.frames() && out.frame[f + 1] == tracks.frame[i])
      ++f;  // as a rule
    else
      f = static_cast<std::size_t>(std::lower_bound(out.frame.begin(), out.frame.end(), tracks.frame[i]) -
                                   out.frame.begin());
    index[i] = f;
    ++out.offsets[f + 1];
  }
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  std::vector<std::size_t> next = out.offsets;
  out.order.resize(tracks.points());
  for (std::size_t i = 0; i < tracks.points(); ++i) out.order[next[index[i]]++] = i;
  return out;
}

PointFields point_fields(const TrackSet& tracks, std::int32_t frame_step) {
  const auto of_points = [&](const std::vector<std::int64_t>& of_tracks) {
    std::vector<std::int64_t> out;
    out.reserve(tracks.points());
    for (std::size_t t = 0; t < of_tracks.size(); ++t)
      out.insert(out.end(), static_cast<std::size_t>(tracks.track_offsets[t + 1] - tracks.track_offsets[t]),
                 of_tracks[t]);
    return out;
  };
  return {of_points(tracks.track_id), of_points(tracks.parent),
          point_speeds(tracks, cut_runs(tracks, frame_step))};
}

}  // namespace motes::io::detail
