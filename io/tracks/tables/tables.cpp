/// Reads tables of points and of tracks.

#include <algorithm>
#include <cmath>
#include <functional>

#include <omp.h>

#include <motes/base/errors.h>
#include <motes/base/execution.h>
#include <motes/base/parallel_for.h>
#include <motes/io/tables.h>

#include "io/files/encoding.h"
#include "io/files/gzip.h"
#include "io/files/text.h"
#include "io/images/frame_interval.h"
#include "io/tracks/lineages/track_graph.h"
#include "io/tracks/tables/point_columns.h"
#include "io/tracks/tables/point_links.h"
#include "io/tracks/tables/point_tables.h"
#include "io/tracks/track_rows.h"

namespace motes::io {
namespace {

using detail::PointColumns;

/// A mean of irregular times within this share of input.dt_s counts as the same interval.
constexpr double kSameInterval = 0.1;

/// um per unit; none for pixels and unknown units.
std::optional<Vec3> um_of(TableUnit unit) {
  if (unit == TableUnit::um) return Vec3{1, 1, 1};
  if (unit == TableUnit::nm) return Vec3{1e-3, 1e-3, 1e-3};
  if (unit == TableUnit::mm) return Vec3{1e3, 1e3, 1e3};
  return std::nullopt;
}

/// Scales plain coordinates in place and returns their new unit.
std::string scale_to_um(PointColumns& columns, const TableOptions& options) {
  if (columns.micrometres) return "um";
  const std::optional<Vec3> stated = um_of(options.unit);
  if (!stated && (!options.voxel_um || *options.voxel_um == Vec3{1, 1, 1})) return "px";
  const Vec3 um = stated ? *stated : *options.voxel_um;
  if (um == Vec3{1, 1, 1}) return "um";
  for (double& x : columns.x) x *= um.x;
  for (double& y : columns.y) y *= um.y;
  for (double& z : columns.z) z *= um.z;
  return "um";
}

/// The frame interval: that of the options, else from the times. Afterwards time_s has the rows' times, or is
/// empty if they are unknown; times that fit no frames or no interval are kept as a property.
std::optional<double> settle_times(PointColumns& columns, const std::optional<double>& option) {
  const std::optional<double> regular = detail::infer_interval(columns.frame, columns.time_s);
  const std::optional<double> mean =
      regular ? std::nullopt : detail::mean_interval(columns.frame, columns.time_s);
  const std::string column = "column '" + columns.time_name + "'";
  if (mean && (!option || std::abs(*mean - *option) <= kSameInterval * *option)) {
    columns.notes.push_back(column + " has no constant interval: frames keep its times" +
                            (option ? "" : ", their mean interval is " + std::to_string(*mean) + " s"));
    return option ? option : mean;
  }
  if (!columns.time_s.empty() && !regular) {
    columns.notes.push_back(column + " has no constant interval: kept as a property");
    columns.properties.push_back({columns.time_name, columns.time_s});
  }
  if (option) {
    if (regular && std::abs(*regular - *option) > 1e-6 * *option) {
      columns.notes.push_back(column + " says " + std::to_string(*regular) +
                              " s per frame: input.dt_s overrides it");
    }
    columns.time_s.resize(columns.size());
    std::transform(columns.frame.begin(), columns.frame.end(), columns.time_s.begin(),
                   [&](std::int32_t frame) { return frame * *option; });
    return option;
  }
  if (!regular) columns.time_s.clear();
  return regular;
}

/// The column of radii; those in pixels are lengths of the table only if its unit is px.
std::string_view radius_column(const std::string& length_unit) {
  return length_unit == "px" ? "radius_px" : "radius_um";
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char c, char d) { return (c | 0x20) == (d | 0x20); });
}

/// Removes the named column from the properties and returns it; empty if there is none.
std::vector<double> take_property(PointColumns& columns, std::string_view name) {
  const auto found = std::find_if(columns.properties.begin(), columns.properties.end(),
                                  [&](const PropertyColumn& column) { return same_name(column.name, name); });
  if (found == columns.properties.end()) return {};
  std::vector<double> values = std::move(found->values);
  columns.properties.erase(found);
  return values;
}

/// The frames from the first to the last one, with number, time and the names of the properties.
std::vector<Detections> empty_frames(const PointColumns& columns, const std::optional<double>& dt_s) {
  const auto [low, high] = std::minmax_element(columns.frame.begin(), columns.frame.end());
  const std::int32_t first = *low;
  const double start =
      columns.time_s.empty() ? first : columns.time_s[static_cast<std::size_t>(low - columns.frame.begin())];
  Detections pattern;
  for (const PropertyColumn& column : columns.properties) pattern.properties.push_back({column.name, {}});
  std::vector<Detections> frames(static_cast<std::size_t>(*high - first) + 1, pattern);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].frame = first + static_cast<std::int32_t>(i);
    frames[i].time_s = dt_s ? start + static_cast<double>(i) * *dt_s : frames[i].frame;
  }
  // Times in the table are kept as they are, since start + i * dt may differ in the last bit.
  for (std::size_t row = 0; row < columns.time_s.size(); ++row) {
    frames[static_cast<std::size_t>(columns.frame[row] - first)].time_s = columns.time_s[row];
  }
  return frames;
}

/// The place of each row in its frame, and the number of rows of each frame.
struct Places {
  std::vector<std::int32_t> slot;   ///< [rows] place within the row's frame
  std::vector<std::size_t> counts;  ///< [frames]
};

Places count_rows(const PointColumns& columns, std::int32_t first, std::size_t frames) {
  Places places{std::vector<std::int32_t>(columns.size()), std::vector<std::size_t>(frames, 0)};
  for (std::size_t row = 0; row < columns.size(); ++row) {
    places.slot[row] =
        static_cast<std::int32_t>(places.counts[static_cast<std::size_t>(columns.frame[row] - first)]++);
  }
  return places;
}

/// Moves the rows' values into their frames, column by column, so that only one column is in memory twice.
/// Columns that the table lacks stay empty.
void fill_frames(std::vector<Detections>& frames, PointColumns& columns, std::vector<double> radius,
                 std::vector<double> intensity, std::vector<double> quality) {
  const std::int32_t first = frames.front().frame;
  const Places places = count_rows(columns, first, frames.size());
  constexpr std::int64_t kRows = 1 << 16;
  // For many short columns, waiting for threads would take longer than the work.
  const int threads = std::ssize(columns.frame) < kRows ? 1 : thread_count({omp_get_max_threads()});
  const auto fill = [&](std::vector<double>& column, auto part) {
    const auto column_in = [part](Detections& frame) -> std::vector<double>& {
      return std::invoke(part, frame);
    };
    const std::vector<double> values = std::move(column);
    if (values.empty()) return;
    parallel_for(threads, std::ssize(frames), [&](std::int64_t f) {
      const auto k = static_cast<std::size_t>(f);
      column_in(frames[k]).resize(places.counts[k]);
    });
    const std::int64_t rows = std::ssize(values);
    parallel_for(threads, (rows + kRows - 1) / kRows, [&](std::int64_t block) {
      const auto end = static_cast<std::size_t>(std::min(rows, (block + 1) * kRows));
      for (auto row = static_cast<std::size_t>(block * kRows); row < end; ++row) {
        Detections& frame = frames[static_cast<std::size_t>(columns.frame[row] - first)];
        column_in(frame)[static_cast<std::size_t>(places.slot[row])] = values[row];
      }
    });
  };
  fill(columns.x, &Detections::x_um);
  fill(columns.y, &Detections::y_um);
  fill(columns.z, &Detections::z_um);
  fill(radius, &Detections::radius_um);
  fill(intensity, &Detections::intensity);
  fill(quality, &Detections::quality);
  for (std::size_t i = 0; i < columns.properties.size(); ++i) {
    fill(columns.properties[i].values,
         [i](Detections& frame) -> std::vector<double>& { return frame.properties[i].values; });
  }
}

/// Removes rows without a track number (spots that are on no track) and returns their number.
std::size_t keep_tracked_rows(PointColumns& columns, detail::TrackRows& rows) {
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < columns.size(); ++row) {
    if (columns.track[row]) kept.push_back(row);
  }
  const auto pick = [&](const auto& from, auto& to) {
    if (from.empty()) return;
    to.reserve(kept.size());
    for (const std::size_t row : kept) to.push_back(from[row]);
  };
  pick(columns.frame, rows.frame);
  pick(columns.x, rows.x_um);
  pick(columns.y, rows.y_um);
  pick(columns.z, rows.z_um);
  pick(columns.time_s, rows.time_s);
  pick(columns.parent, rows.parent);
  pick(columns.merged_into, rows.merged_into);
  for (PropertyColumn& column : columns.properties) {
    rows.properties.push_back({std::move(column.name), {}});
    pick(column.values, rows.properties.back().values);
  }
  std::vector<std::int64_t> lines;
  pick(columns.line, lines);
  for (const std::size_t row : kept) rows.track_id.push_back(*columns.track[row]);
  columns.line = std::move(lines);
  return columns.track.size() - kept.size();
}

/// The tracks of a table whose points name their mothers. Numbers of tracks in the table are kept.
TrackSet tracks_of_links(PointColumns& columns, std::vector<std::pair<std::size_t, std::size_t>> links,
                         const std::function<std::string(std::size_t)>& where) {
  detail::TrackGraph graph;
  graph.edges = std::move(links);
  for (const auto& track : columns.track) graph.particle.push_back(track.value_or(-1));
  graph.single_points = columns.track.empty();
  graph.nodes.frame = std::move(columns.frame);
  graph.nodes.x_um = std::move(columns.x);
  graph.nodes.y_um = std::move(columns.y);
  graph.nodes.z_um = std::move(columns.z);
  graph.nodes.time_s = std::move(columns.time_s);
  graph.nodes.properties = std::move(columns.properties);
  return detail::tracks_of_graph(std::move(graph), where, columns.notes);
}

/// Whether at least two fields of the line are numbers.
bool is_row_of_numbers(std::string_view line) {
  constexpr std::string_view kBetween = ",;|\t \"\r";
  int numbers = 0;
  for (std::size_t at = line.find_first_not_of(kBetween); at < line.size();
       at = line.find_first_not_of(kBetween, at)) {
    const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
    numbers += detail::parse_double(line.substr(at, end - at)) ? 1 : 0;
    at = end;
  }
  return numbers >= 2;
}

}  // namespace

void require_dense_frames(std::int64_t frames, std::int64_t points, const std::string& source) {
  constexpr std::int64_t kFree = 500'000, kPerPoint = 1'000;
  if (frames <= kFree || (frames - kFree) / kPerPoint <= points) return;
  throw InputError(source + ": " + std::to_string(points) + " points span " + std::to_string(frames) +
                   " frames; correct frame numbers that are far too large, or renumber the frames");
}

bool is_text_table(const std::filesystem::path& path) {
  constexpr std::size_t kStart = 4096, kLines = 10;
  std::string start = detail::inflated_start(path, kStart);
  if (detail::is_utf16(start)) start = detail::utf8_of_utf16(start).value_or("");
  constexpr std::string_view kMarkup = "<{[";
  if (start.empty() || kMarkup.find(start.front()) != std::string_view::npos) return false;
  const auto is_text = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n' || c == '\r';
  };
  if (!std::all_of(start.begin(), start.end(), is_text)) return false;
  std::string_view rest = start;
  for (std::size_t line = 0; line < kLines && !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
    if (is_row_of_numbers(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

namespace detail {

void require_positive(const TableOptions& options) {
  const auto good = [](double value) { return std::isfinite(value) && value > 0; };
  if (options.voxel_um &&
      !(good(options.voxel_um->x) && good(options.voxel_um->y) && good(options.voxel_um->z))) {
    throw UsageError("input.voxel_um: voxel sizes must be positive numbers");
  }
  if (options.dt_s && !good(*options.dt_s))
    throw UsageError("input.dt_s: the frame interval must be a positive number");
}

PointTable points_of_columns(PointColumns columns, const TableOptions& options, const std::string& source) {
  if (columns.pixels && !options.voxel_um && options.unit == TableUnit::unknown) {
    throw UsageError(
        source +
        ": its positions are in pixels; set input.voxel_um (--voxel Z,Y,X or one number, in um), or "
        "input.unit=px to keep them");
  }
  if (!columns.micrometres && !options.voxel_um && options.unit == TableUnit::unknown) {
    throw UsageError(source +
                     ": columns x, y, z have no unit; set it (--set input.unit=um, or nm, mm, px), or " +
                     "set input.voxel_um to um per unit (--voxel; 1 keeps the numbers, in px)");
  }
  PointTable table;
  table.length_unit = scale_to_um(columns, options);
  table.dt_s = settle_times(columns, options.dt_s);
  for (const std::string& name : columns.identity_names) {
    columns.notes.push_back("column '" + name + "' is ignored: motes links the points itself");
  }
  std::vector<double> radius = take_property(columns, radius_column(table.length_unit));
  std::vector<double> intensity = take_property(columns, "intensity");
  std::vector<double> quality = take_property(columns, "quality");
  const auto [low, high] = std::minmax_element(columns.frame.begin(), columns.frame.end());
  require_dense_frames(std::int64_t{*high} - *low + 1, static_cast<std::int64_t>(columns.size()), source);
  table.frames = empty_frames(columns, table.dt_s);
  fill_frames(table.frames, columns, std::move(radius), std::move(intensity), std::move(quality));
  table.notes = std::move(columns.notes);
  return table;
}

TrackSet tracks_of_columns(PointColumns columns, const TableOptions& options,
                           const std::function<std::string(std::int64_t)>& where_of,
                           std::vector<std::string>* notes) {
  const auto where = [&](std::size_t row) { return where_of(columns.line[row]); };
  const std::string unit = scale_to_um(columns, options);
  const std::optional<double> dt_s = settle_times(columns, options.dt_s);
  TrackSet tracks;
  auto links = columns.parent.empty() ? take_point_links(columns, where) : std::nullopt;
  if (links) {
    tracks = tracks_of_links(columns, *std::move(links), where);
  } else {
    TrackRows rows;
    if (const std::size_t dropped = keep_tracked_rows(columns, rows); dropped > 0)
      columns.notes.push_back(std::to_string(dropped) + " rows have no track number and are left out");
    tracks = group_tracks(std::move(rows), where);
  }
  tracks.length_unit = unit;
  tracks.dt_s = dt_s;
  if (notes != nullptr) *notes = std::move(columns.notes);
  return tracks;
}

}  // namespace detail

PointTable read_points_csv(const std::filesystem::path& path, const TableOptions& options) {
  detail::require_positive(options);
  PointColumns columns = detail::read_point_columns(path, options, false);
  if (columns.size() == 0) {
    throw InputError(path.string() + ": the table has a header but no rows; there is nothing to track");
  }
  return detail::points_of_columns(std::move(columns), options, path.string());
}

TrackSet read_tracks_csv(const std::filesystem::path& path, const TableOptions& options,
                         std::vector<std::string>* notes) {
  detail::require_positive(options);
  PointColumns columns = detail::read_point_columns(path, options, true);
  return detail::tracks_of_columns(
      std::move(columns), options,
      [&](std::int64_t line) { return path.string() + ":" + std::to_string(line); }, notes);
}

}  // namespace motes::io
