/// Groups the points of tracks by frame.

#include "io/tracks/frame_points.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <motes/io/vtk_tracks.h>
#include <motes/tracking/track_runs.h>

namespace motes::io::detail {
namespace {

/// The numbers of frames with points, rising.
std::vector<std::int32_t> frames_of(const TrackSet& tracks) {
  std::vector<std::int32_t> frames;
  if (tracks.points() == 0) return frames;
  const auto [low, high] = std::minmax_element(tracks.frame.begin(), tracks.frame.end());
  const auto span = static_cast<std::size_t>(std::int64_t{*high} - *low) + 1;
  if (span > 2 * tracks.points()) {  // few points, far apart
    const std::set<std::int32_t> found(tracks.frame.begin(), tracks.frame.end());
    frames.assign(found.begin(), found.end());
    return frames;
  }
  std::vector<char> seen(span, 0);
  for (const std::int32_t frame : tracks.frame) seen[static_cast<std::size_t>(frame - *low)] = 1;
  for (std::size_t k = 0; k < span; ++k)
    if (seen[k] != 0) frames.push_back(*low + static_cast<std::int32_t>(k));
  return frames;
}

}  // namespace

FramePoints points_by_frame(const TrackSet& tracks, std::size_t step) {
  const std::vector<std::int32_t> all = frames_of(tracks);
  FramePoints out;
  for (std::size_t k = 0; k < all.size(); k += step) out.frame.push_back(all[k]);
  // Calls use(i, f) for the points i of the listed frames f. Their frames are found again in the second call,
  // since a list of them takes as much memory as the result.
  const auto each = [&](const auto& use) {
    for (std::size_t i = 0, f = 0; i < tracks.points(); ++i) {
      if (f + 1 < all.size() && all[f + 1] == tracks.frame[i])
        ++f;  // the usual case
      else
        f = static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), tracks.frame[i]) - all.begin());
      if (f % step == 0) use(i, f / step);
    }
  };
  out.offsets.assign(out.frames() + 1, 0);
  each([&](std::size_t, std::size_t f) { ++out.offsets[f + 1]; });
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  std::vector<std::size_t> next = out.offsets;
  out.order.resize(out.offsets.back());
  each([&](std::size_t i, std::size_t f) { out.order[next[f]++] = i; });
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
  return {of_points(tracks.track_id), of_points(tracks.parent), of_points(tracks.merged_into),
          point_speeds(tracks, cut_runs(tracks, frame_step))};
}

}  // namespace motes::io::detail

namespace motes::io {

std::size_t frame_file_step(const TrackSet& tracks, std::size_t most_files) {
  const std::size_t frames = detail::frames_of(tracks).size();
  return std::max<std::size_t>(1, (frames + most_files - 1) / most_files);
}

}  // namespace motes::io
