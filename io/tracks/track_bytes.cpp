#include "io/tracks/track_bytes.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "io/files/bytes.h"

namespace motes::io::detail {
namespace {

template <class T>
void put_column(std::string& out, const std::vector<T>& values) {
  put(out, static_cast<std::uint64_t>(values.size()));
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <class T>
void take_column(Source& from, std::vector<T>& values) {
  const auto count = from.number<std::uint64_t>();
  const std::string_view bytes =
      count > from.left() ? from.take(~std::uint64_t{0}) : from.take(count * sizeof(T));
  values.resize(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
}

void put_properties(std::string& out, const std::vector<PropertyColumn>& columns) {
  put(out, static_cast<std::uint64_t>(columns.size()));
  for (const PropertyColumn& column : columns) {
    put_text(out, column.name);
    put_column(out, column.values);
  }
}

void take_properties(Source& from, std::vector<PropertyColumn>& columns) {
  const auto count = from.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && from.ok(); ++i) {
    PropertyColumn& column = columns.emplace_back();
    column.name = from.text();
    take_column(from, column.values);
  }
}

bool is_whole(const TrackSet& tracks) {
  const std::size_t n = tracks.points();
  const auto full = [](const std::vector<PropertyColumn>& columns, std::size_t length) {
    return std::all_of(columns.begin(), columns.end(),
                       [&](const PropertyColumn& column) { return column.values.size() == length; });
  };
  const std::vector<std::int64_t>& offsets = tracks.track_offsets;
  return offsets.size() == tracks.tracks() + 1 && offsets.front() == 0 &&
         offsets.back() == static_cast<std::int64_t>(n) && std::is_sorted(offsets.begin(), offsets.end()) &&
         (tracks.parent.empty() || tracks.parent.size() == tracks.tracks()) &&
         (tracks.merged_into.empty() || tracks.merged_into.size() == tracks.tracks()) &&
         tracks.detection.size() == n && tracks.time_s.size() == n && tracks.x_um.size() == n &&
         tracks.y_um.size() == n && tracks.z_um.size() == n && full(tracks.point_properties, n) &&
         full(tracks.track_properties, tracks.tracks()) &&
         (tracks.length_unit == "um" || tracks.length_unit == "px");
}

/// Calls `each` for every column.
template <class Tracks, class Each>
void for_columns(Tracks& tracks, const Each& each) {
  each(tracks.track_offsets);
  each(tracks.track_id);
  each(tracks.parent);
  each(tracks.merged_into);
  each(tracks.frame);
  each(tracks.detection);
  each(tracks.time_s);
  each(tracks.x_um);
  each(tracks.y_um);
  each(tracks.z_um);
}

}  // namespace

std::string pack_tracks(const TrackSet& tracks) {
  std::string out;
  for_columns(tracks, [&](const auto& column) { put_column(out, column); });
  put_properties(out, tracks.point_properties);
  put_properties(out, tracks.track_properties);
  put_text(out, tracks.length_unit);
  put_number(out, tracks.dt_s.value_or(0));
  return out;
}

std::optional<TrackSet> unpack_tracks(std::string_view bytes) {
  Source from(bytes);
  TrackSet tracks;
  for_columns(tracks, [&](auto& column) { take_column(from, column); });
  take_properties(from, tracks.point_properties);
  take_properties(from, tracks.track_properties);
  tracks.length_unit = from.text();
  const double dt_s = from.real();
  if (dt_s > 0) tracks.dt_s = dt_s;
  if (!from.ok() || from.left() > 0 || !is_whole(tracks)) return std::nullopt;
  return tracks;
}

}  // namespace motes::io::detail
