#include <algorithm>
#include <unordered_set>
#include <utility>

#include <motes/tracking/track_filter.h>

namespace motes {
namespace {

/// Keeps only the elements in the ranges [begin, end), in place.
template <class T>
void keep_ranges(std::vector<T>& values, const std::vector<std::pair<std::size_t, std::size_t>>& ranges) {
  if (values.empty()) return;
  auto to = values.begin();
  for (const auto& [begin, end] : ranges)
    to = std::copy(values.begin() + static_cast<std::ptrdiff_t>(begin),
                   values.begin() + static_cast<std::ptrdiff_t>(end), to);
  values.erase(to, values.end());
}

}  // namespace

TrackSet without_tracks(TrackSet tracks, const std::vector<char>& left_out) {
  std::vector<std::pair<std::size_t, std::size_t>> kept_tracks, kept_points;
  std::vector<std::int64_t> offsets{0};
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    if (left_out[t]) continue;
    const std::int64_t begin = tracks.track_offsets[t], end = tracks.track_offsets[t + 1];
    kept_tracks.emplace_back(t, t + 1);
    kept_points.emplace_back(begin, end);
    offsets.push_back(offsets.back() + end - begin);
  }
  if (kept_tracks.size() == tracks.tracks()) return tracks;
  keep_ranges(tracks.track_id, kept_tracks);
  keep_ranges(tracks.parent, kept_tracks);
  keep_ranges(tracks.merged_into, kept_tracks);
  for (PropertyColumn& column : tracks.track_properties) keep_ranges(column.values, kept_tracks);
  keep_ranges(tracks.frame, kept_points);
  keep_ranges(tracks.detection, kept_points);
  for (auto* column : {&tracks.time_s, &tracks.x_um, &tracks.y_um, &tracks.z_um})
    keep_ranges(*column, kept_points);
  for (PropertyColumn& column : tracks.point_properties) keep_ranges(column.values, kept_points);
  tracks.track_offsets = std::move(offsets);
  const std::unordered_set<std::int64_t> there(tracks.track_id.begin(), tracks.track_id.end());
  for (auto* relatives : {&tracks.parent, &tracks.merged_into})
    for (std::int64_t& relative : *relatives)
      if (!there.contains(relative)) relative = -1;
  return tracks;
}

TrackSet without_short_tracks(TrackSet tracks, std::int64_t points) {
  std::vector<char> left_out(tracks.tracks(), 0);
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    left_out[t] = tracks.track_offsets[t + 1] - tracks.track_offsets[t] < points;
  return without_tracks(std::move(tracks), left_out);
}

}  // namespace motes
