#pragma once
/// Points with track numbers in any order, and the TrackSet made from them.

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <motes/tracking/properties.h>
#include <motes/tracking/track_set.h>

namespace motes::io::detail {

struct TrackRows {
  std::vector<std::int64_t> track_id;      ///< [rows]
  std::vector<std::int64_t> parent;        ///< [rows], or empty: no divisions known
  std::vector<std::int64_t> merged_into;   ///< [rows], or empty: no merges known
  std::vector<std::int32_t> frame;         ///< [rows]
  std::vector<double> time_s;              ///< [rows], or empty: the frame number is the time
  std::vector<double> x_um, y_um, z_um;    ///< [rows]
  std::vector<PropertyColumn> properties;  ///< each [rows]

  std::size_t size() const { return frame.size(); }
};

/// Tracks in the order of first occurrence, each sorted by frame; parent and merged_into are those of a
/// track's first row. The caller sets unit and dt_s. Throws InputError that starts with where(row) for two
/// rows of one track in one frame. O(rows), and O(rows log rows) if a track's rows are not in the order of
/// frames.
TrackSet group_tracks(TrackRows rows, const std::function<std::string(std::size_t row)>& where);

/// `name`, with underscores appended until it is not in `taken`; adds it to `taken`.
std::string unique_name(std::string name, std::set<std::string>& taken);

}  // namespace motes::io::detail
