/// Writes tables of points and of tracks.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include <motes/io/tables.h>

#include "io/files/text.h"
#include "io/tracks/tables/text_blocks.h"
#include "io/tracks/track_rows.h"

namespace motes::io {
namespace {

/// A column's name as a CSV field, quoted if it has characters with a meaning in CSV.
std::string field_text(const std::string& name) {
  if (name.find_first_of(",;\t\"\r\n#") == std::string::npos && name == detail::trimmed(name)) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// Column names in order, each once; properties with a name that is taken get another one.
class Header {
 public:
  /// `reserved`: names that the reader would prefer to the written ones, so properties must not have them.
  explicit Header(std::set<std::string> reserved) : taken_(std::move(reserved)) {}
  void add(const std::string& name) {
    taken_.insert(name);
    append(name);
  }
  void add_property(const std::string& name) { append(detail::unique_name(name, taken_)); }
  std::string line() const { return text_ + '\n'; }

 private:
  void append(const std::string& name) {
    if (!text_.empty()) text_ += ',';
    text_ += field_text(name);
  }
  std::set<std::string> taken_;
  std::string text_;
};

void add_coordinates(Header& header, const std::string& length_unit) {
  const std::string suffix = length_unit == "px" ? "" : "_um";
  for (const char* axis : {"x", "y", "z"}) header.add(axis + suffix);
}

std::set<std::string> reserved_names(const std::string& length_unit) {
  if (length_unit == "px") return {"x_um", "y_um", "z_um"};
  return {};
}

void append_field(std::string& out, double value) {
  out += ',';
  detail::append_number(out, value);
}

std::string track_header(const TrackSet& tracks) {
  Header header(reserved_names(tracks.length_unit));
  header.add("particle");
  header.add("frame");
  if (tracks.dt_s) header.add("t_s");
  add_coordinates(header, tracks.length_unit);
  if (!tracks.parent.empty()) header.add("parent");
  if (!tracks.merged_into.empty()) header.add("merged_into");
  for (const PropertyColumn& column : tracks.point_properties) header.add_property(column.name);
  return header.line();
}

using Known = std::vector<double> Detections::*;

bool known_anywhere(const std::vector<Detections>& frames, Known field) {
  return std::any_of(frames.begin(), frames.end(), [&](const Detections& frame) {
    const std::vector<double>& values = frame.*field;
    return std::any_of(values.begin(), values.end(), [](double value) { return !std::isnan(value); });
  });
}

bool has_times(const std::vector<Detections>& frames) {
  return std::any_of(frames.begin(), frames.end(),
                     [](const Detections& frame) { return frame.time_s != frame.frame; });
}

/// The names of all frames' properties, in the order of first occurrence.
std::vector<std::string> property_names(const std::vector<Detections>& frames) {
  std::vector<std::string> names;
  std::set<std::string_view> known;
  for (const Detections& frame : frames)
    for (const PropertyColumn& column : frame.properties)
      if (known.insert(column.name).second) names.push_back(column.name);
  return names;
}

/// The frame's columns with these `names`; null for those that the frame lacks.
std::vector<const std::vector<double>*> find_columns(const Detections& frame,
                                                     const std::vector<std::string>& names) {
  std::vector<const std::vector<double>*> columns;
  std::map<std::string_view, const std::vector<double>*> known;
  for (const PropertyColumn& column : frame.properties) known.try_emplace(column.name, &column.values);
  for (const std::string& name : names) {
    const auto found = known.find(name);
    columns.push_back(found == known.end() ? nullptr : found->second);
  }
  return columns;
}

}  // namespace

void write_tracks_csv(const std::filesystem::path& path, const TrackSet& tracks) {
  const auto format = [&](std::int64_t begin, std::int64_t end, std::string& out) {
    const auto& offsets = tracks.track_offsets;
    auto t = static_cast<std::size_t>(std::upper_bound(offsets.begin(), offsets.end(), begin) -
                                      offsets.begin() - 1);
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      while (offsets[t + 1] <= static_cast<std::int64_t>(i)) ++t;
      detail::append_number(out, tracks.track_id[t]);
      out += ',';
      detail::append_number(out, static_cast<std::int64_t>(tracks.frame[i]));
      if (tracks.dt_s) append_field(out, tracks.time_s[i]);
      append_field(out, tracks.x_um[i]);
      append_field(out, tracks.y_um[i]);
      append_field(out, tracks.z_um[i]);
      for (const auto* relatives : {&tracks.parent, &tracks.merged_into}) {
        if (relatives->empty()) continue;
        out += ',';
        detail::append_number(out, (*relatives)[t]);
      }
      for (const PropertyColumn& column : tracks.point_properties) append_field(out, column.values[i]);
      out += '\n';
    }
  };
  detail::write_rows(path, track_header(tracks), std::ssize(tracks.frame), format);
}

namespace {

/// The columns of a table of detections.
class PointTableColumns {
 public:
  explicit PointTableColumns(const DetectionSeries& series)
      : length_unit_(series.length_unit),
        times_(series.dt_s || has_times(series.frames)),
        properties_(property_names(series.frames)) {
    const std::string radius = length_unit_ == "px" ? "radius_px" : "radius_um";
    for (const auto& [field, name] : {std::pair<Known, std::string>{&Detections::radius_um, radius},
                                      {&Detections::intensity, "intensity"},
                                      {&Detections::quality, "quality"}})
      if (known_anywhere(series.frames, field)) known_.emplace_back(field, name);
  }

  std::string header() const {
    Header header(reserved_names(length_unit_));
    header.add("frame");
    if (times_) header.add("t_s");
    add_coordinates(header, length_unit_);
    for (const auto& column : known_) header.add(column.second);
    for (const std::string& name : properties_) header.add_property(name);
    return header.line();
  }

  /// Appends the rows of the frame's detections [begin, end).
  void append_rows(const Detections& frame, std::size_t begin, std::size_t end, std::string& out) const {
    const auto columns = find_columns(frame, properties_);
    for (std::size_t i = begin; i < end; ++i) {
      detail::append_number(out, static_cast<std::int64_t>(frame.frame));
      if (times_) append_field(out, frame.time_s);
      append_field(out, frame.x_um[i]);
      append_field(out, frame.y_um[i]);
      append_field(out, frame.z_um[i]);
      for (const auto& column : known_) {
        const std::vector<double>& values = frame.*column.first;
        append_field(out, values.empty() ? std::nan("") : values[i]);
      }
      for (const auto* values : columns) append_field(out, values == nullptr ? std::nan("") : (*values)[i]);
      out += '\n';
    }
  }

 private:
  std::string length_unit_;
  bool times_;
  std::vector<std::pair<Known, std::string>> known_;
  std::vector<std::string> properties_;
};

}  // namespace

void write_points_csv(const std::filesystem::path& path, const DetectionSeries& series) {
  const PointTableColumns columns(series);
  std::vector<std::int64_t> offsets{0};  // offsets of the frames' rows
  for (const Detections& frame : series.frames)
    offsets.push_back(offsets.back() + static_cast<std::int64_t>(frame.size()));
  const auto format = [&](std::int64_t begin, std::int64_t end, std::string& out) {
    auto f = static_cast<std::size_t>(std::upper_bound(offsets.begin(), offsets.end(), begin) -
                                      offsets.begin() - 1);
    for (std::int64_t row = begin; row < end; ++f) {
      const std::int64_t last = std::min(end, offsets[f + 1]);
      columns.append_rows(series.frames[f], static_cast<std::size_t>(row - offsets[f]),
                          static_cast<std::size_t>(last - offsets[f]), out);
      row = last;
    }
  };
  detail::write_rows(path, columns.header(), offsets.back(), format);
}

}  // namespace motes::io
