/// Sorts points into tracks, and checks them.

#include "io/tracks/track_rows.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include <motes/base/errors.h>

namespace motes::io::detail {
namespace {

/// The track index of every row, with identities numbered by first occurrence.
std::vector<std::size_t> number_tracks(const std::vector<std::int64_t>& id,
                                       std::vector<std::int64_t>& track_id) {
  std::unordered_map<std::int64_t, std::size_t> index_of;
  std::vector<std::size_t> track(id.size());
  for (std::size_t row = 0; row < id.size(); ++row) {
    if (row > 0 && id[row] == id[row - 1]) {  // tables are usually sorted by track, so no look-up is needed
      track[row] = track[row - 1];
      continue;
    }
    const auto [found, added] = index_of.try_emplace(id[row], track_id.size());
    if (added) track_id.push_back(id[row]);
    track[row] = found->second;
  }
  return track;
}

/// Orders rows by track, then by frame (a counting sort, then sorts of tracks that are out of order).
std::vector<std::size_t> order_rows(const std::vector<std::size_t>& track,
                                    const std::vector<std::int32_t>& frame,
                                    std::vector<std::int64_t>& offsets, std::size_t tracks) {
  offsets.assign(tracks + 1, 0);
  for (const std::size_t t : track) ++offsets[t + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<std::int64_t> fill(offsets.begin(), offsets.end() - 1);
  std::vector<std::size_t> order(track.size());
  for (std::size_t row = 0; row < track.size(); ++row) {
    order[static_cast<std::size_t>(fill[track[row]]++)] = row;
  }
  const auto earlier = [&](std::size_t a, std::size_t b) { return frame[a] < frame[b]; };
  for (std::size_t t = 0; t < tracks; ++t) {
    const auto begin = order.begin() + offsets[t], end = order.begin() + offsets[t + 1];
    if (!std::is_sorted(begin, end, earlier)) std::stable_sort(begin, end, earlier);
  }
  return order;
}

template <class T>
std::vector<T> gather(const std::vector<T>& values, const std::vector<std::size_t>& order) {
  std::vector<T> sorted(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = values[order[i]];
  return sorted;
}

void reject_repeated_frames(const TrackSet& tracks, const std::vector<std::size_t>& order,
                            const std::function<std::string(std::size_t)>& where) {
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    for (auto i = static_cast<std::size_t>(tracks.track_offsets[t]) + 1;
         i < static_cast<std::size_t>(tracks.track_offsets[t + 1]); ++i) {
      if (tracks.frame[i] != tracks.frame[i - 1]) continue;
      throw InputError(where(order[i]) + ": track " + std::to_string(tracks.track_id[t]) +
                       " has a second point in frame " + std::to_string(tracks.frame[i]) +
                       "; keep one, or give the points different track numbers");
    }
  }
}

}  // namespace

TrackSet group_tracks(TrackRows rows, const std::function<std::string(std::size_t row)>& where) {
  TrackSet tracks;
  const std::vector<std::size_t> track = number_tracks(rows.track_id, tracks.track_id);
  const std::vector<std::size_t> order = order_rows(track, rows.frame, tracks.track_offsets, tracks.tracks());
  tracks.frame = gather(rows.frame, order);
  reject_repeated_frames(tracks, order, where);
  const auto take = [&](const std::vector<std::int64_t>& relatives, const char* wrong,
                        std::vector<std::int64_t>& out) {
    for (std::size_t t = 0; t < tracks.tracks() && !relatives.empty(); ++t) {
      const std::size_t first = order[static_cast<std::size_t>(tracks.track_offsets[t])];
      if (relatives[first] == tracks.track_id[t])
        throw InputError(where(first) + ": track " + std::to_string(tracks.track_id[t]) + wrong + ", or -1");
      out.push_back(relatives[first]);
    }
  };
  take(rows.parent, " is its own parent; give its mother's number", tracks.parent);
  take(rows.merged_into, " merges into itself; give the number of the merged track", tracks.merged_into);
  if (rows.time_s.empty()) {
    tracks.time_s.assign(tracks.frame.begin(), tracks.frame.end());
  } else {
    tracks.time_s = gather(rows.time_s, order);
  }
  tracks.detection.assign(tracks.points(), -1);
  tracks.x_um = gather(rows.x_um, order);
  tracks.y_um = gather(rows.y_um, order);
  tracks.z_um = gather(rows.z_um, order);
  for (PropertyColumn& column : rows.properties) {
    tracks.point_properties.push_back({std::move(column.name), gather(column.values, order)});
  }
  return tracks;
}

std::string unique_name(std::string name, std::set<std::string>& taken) {
  while (!taken.insert(name).second) name += '_';
  return name;
}

}  // namespace motes::io::detail
