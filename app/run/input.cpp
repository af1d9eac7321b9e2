/// Recognises an input and opens it.

#include "app/run/input.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/io/challenge_xml.h>
#include <motes/io/ctc.h>
#include <motes/io/detections_h5.h>
#include <motes/io/geff.h>
#include <motes/io/mtrackj.h>
#include <motes/io/picasso.h>
#include <motes/io/track_files.h>
#include <motes/io/trackmate_xml.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>

namespace motes::app {
namespace {

using nlohmann::ordered_json;

std::string lower_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension;
}

bool is_table_name(std::string path) {
  std::string extension = lower_extension(path);
  if (extension == ".gz") extension = lower_extension(std::filesystem::path(path).stem().string());
  return extension == ".csv" || extension == ".txt" || extension == ".tsv";
}

bool holds_tracks(const std::string& path, const std::string& extension) {
  if (io::is_geff(path) || io::is_ctc(path)) return true;
  if (extension == ".vtp" || io::is_mtrackj(path)) return true;
  return io::is_tracks_h5(path) || io::is_vtkhdf(path) || (extension == ".xml" && io::is_challenge_xml(path));
}

/// Whether the path is the output folder of a run, without images in it.
bool is_run(const std::string& path) { return io::tracks_of_run(path) != path && !io::is_frames(path); }

std::string vector_text(const Vec3& v) { return fmt::format("[{:g}, {:g}, {:g}]", v.z, v.y, v.x); }

ordered_json zyx_json(const Vec3& v) { return ordered_json::array({v.z, v.y, v.x}); }

std::size_t point_count(const io::PointTable& points) {
  std::size_t total = 0;
  for (const Detections& frame : points.frames) total += frame.size();
  return total;
}

void append_point(Detections& frame, const TrackSet& tracks, std::size_t p) {
  frame.x_um.push_back(tracks.x_um[p]);
  frame.y_um.push_back(tracks.y_um[p]);
  frame.z_um.push_back(tracks.z_um[p]);
}

/// The factors from px to um: from input.unit for files that do not state a unit (tables are scaled by it
/// when they are read), else input.voxel_um; none: lengths stay in px.
std::optional<Vec3> um_per_unit(const std::string& path, const Config& config) {
  if (!is_table_name(path)) {
    switch (config.input.unit) {
      case io::TableUnit::um:
        return Vec3{1, 1, 1};
      case io::TableUnit::nm:
        return Vec3{1e-3, 1e-3, 1e-3};
      case io::TableUnit::mm:
        return Vec3{1e3, 1e3, 1e3};
      case io::TableUnit::px:
      case io::TableUnit::unknown:
        break;
    }
  }
  if (config.input.voxel_um == Vec3{1, 1, 1}) return std::nullopt;
  return config.input.voxel_um;
}

}  // namespace

void refuse_remote(const std::string& path) {
  if (path == "-")
    throw UsageError("motes does not read standard input; save the data to a file and give its name");
  if (path.find("://") != std::string::npos)
    throw UsageError("'" + path + "': motes reads local files; download it first, or open it in Python");
}

io::TableOptions table_options(const Config& config) {
  return {config.input.voxel_um, config.input.dt_s, config.input.unit, config.input.columns};
}

TrackSet read_tracks_scaled(const std::string& path, const Config& config, std::vector<std::string>* notes) {
  refuse_remote(path);
  TrackSet tracks = io::read_tracks(path, table_options(config), notes);
  scale_tracks(tracks, path, config);
  return tracks;
}

void scale_tracks(TrackSet& tracks, const std::string& path, const Config& config) {
  if (config.input.dt_s && tracks.dt_s != config.input.dt_s) {
    tracks.dt_s = config.input.dt_s;
    for (std::size_t p = 0; p < tracks.points(); ++p) tracks.time_s[p] = tracks.frame[p] * *tracks.dt_s;
  }
  const std::optional<Vec3> um = tracks.length_unit == "px" ? um_per_unit(path, config) : std::nullopt;
  if (!um) return;
  for (std::size_t p = 0; p < tracks.points(); ++p) {
    tracks.x_um[p] *= um->x;
    tracks.y_um[p] *= um->y;
    tracks.z_um[p] *= um->z;
  }
  for (PropertyColumn& column : tracks.point_properties) {
    // In older files of motes with lengths in px, radius_um has radii in px.
    if (column.name != "radius_px" && (column.name != "radius_um" || is_table_name(path))) continue;
    column.name = "radius_um";
    for (double& radius : column.values) radius *= um->x;
  }
  tracks.length_unit = "um";
}

io::PointTable points_of_tracks(const TrackSet& tracks) {
  io::PointTable points;
  points.length_unit = tracks.length_unit;
  points.dt_s = tracks.dt_s;
  points.notes.push_back("its tracks are ignored: motes links the points itself");
  if (tracks.points() == 0) return points;
  const auto [first, last] = std::minmax_element(tracks.frame.begin(), tracks.frame.end());
  const std::int64_t count = std::int64_t{*last} - *first + 1;
  if (*first < 0) throw InputError(fmt::format("frame {}: frames are numbered from 0", *first));
  io::require_dense_frames(count, static_cast<std::int64_t>(tracks.points()), "the tracks");
  points.frames.resize(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < points.frames.size(); ++k) {
    points.frames[k].frame = *first + static_cast<std::int32_t>(k);
    points.frames[k].time_s = tracks.dt_s.value_or(1) * points.frames[k].frame;
  }
  for (std::size_t p = 0; p < tracks.points(); ++p) {
    append_point(points.frames[static_cast<std::size_t>(tracks.frame[p] - *first)], tracks, p);
  }
  return points;
}

namespace {

/// Converts points in px to um if um_per_unit gives a factor, and replaces the file's frame interval by
/// input.dt_s if that is set.
void scale_points(io::PointTable& points, const Config& config) {
  if (config.input.dt_s) {
    points.dt_s = config.input.dt_s;
    for (Detections& frame : points.frames) frame.time_s = frame.frame * *points.dt_s;
  }
  const std::optional<Vec3> um =
      points.length_unit == "px" ? um_per_unit(config.input.path, config) : std::nullopt;
  if (!um) return;
  for (Detections& frame : points.frames) {
    for (double& x : frame.x_um) x *= um->x;
    for (double& y : frame.y_um) y *= um->y;
    for (double& z : frame.z_um) z *= um->z;
    for (double& radius : frame.radius_um) radius *= um->x;
  }
  points.length_unit = "um";
}

}  // namespace

OpenedInput open_input(const Config& config) {
  OpenedInput input;
  input.path = config.input.path;
  if (input.path.empty()) {
    throw UsageError("no input given; name a file or folder after the command, or set input.path");
  }
  refuse_remote(input.path);
  const std::string extension = lower_extension(input.path);
  std::error_code error;
  const bool file = std::filesystem::is_regular_file(input.path, error);
  if (file && is_table_name(input.path)) {
    input.points = io::read_points_csv(input.path, table_options(config));
    input.point_format = "table";
  } else if (file && io::is_detections_h5(input.path)) {
    input.points = io::read_detections_h5(input.path);
    scale_points(input.points, config);
    input.point_format = "detections";
  } else if (file && io::is_picasso(input.path)) {
    input.points = io::read_picasso_points(input.path, table_options(config));
    input.point_format = "Picasso localisations";
  } else if (file && extension == ".xml" && io::is_trackmate_xml(input.path)) {
    input.points = io::read_trackmate_points(input.path);
    scale_points(input.points, config);
    input.point_format = "TrackMate spots";
  } else if (holds_tracks(input.path, extension) || is_run(input.path)) {
    input.points = points_of_tracks(read_tracks_scaled(input.path, config));
    input.point_format = "points of tracks";
  } else if (file && !io::is_frames(input.path) && io::is_text_table(input.path)) {
    input.points = io::read_points_csv(input.path, table_options(config));
    input.point_format = "table";
  } else {
    input.source = io::open_frames(
        input.path, {config.input.voxel_um, config.input.dt_s, config.input.channel, config.input.axes});
    if (input.source->info().frames < 1)
      throw InputError(input.path + ": has no frames; give another series");
    io::require_calibration(input.source->info());
  }
  return input;
}

std::vector<std::string> describe(const io::SeriesInfo& info) {
  const auto known = [](const std::optional<std::string>& text, const std::string& source) {
    return text ? *text + (source.empty() ? "" : ", from " + source) : std::string("unknown");
  };
  std::optional<std::string> voxel, interval;
  if (info.voxel_um) voxel = vector_text(*info.voxel_um) + " um [z, y, x]";
  if (info.dt_s) interval = fmt::format("{:g} s", *info.dt_s);
  std::vector<std::string> lines{
      fmt::format("input:          {} ({})", info.path, info.format),
      fmt::format("axes:           {}", info.axes),
      fmt::format("frames:         {} of {} x {} x {} voxels [z, y, x], {}", info.frames, info.shape.nz,
                  info.shape.ny, info.shape.nx, io::to_string(info.type)),
      fmt::format("channel:        {} of {}", info.channel, info.channels),
      "voxel size:     " + known(voxel, info.voxel_um_source),
      "frame interval: " + known(interval, info.dt_s_source)};
  for (const std::string& note : info.notes) lines.push_back("note:           " + note);
  return lines;
}

std::vector<std::string> describe(const io::PointTable& points, const std::string& path,
                                  const std::string& format) {
  std::vector<std::string> lines{fmt::format("input:          {} ({})", path, format)};
  if (!points.frames.empty()) {
    lines.push_back(fmt::format("frames:         {}, numbered {} to {}", points.frames.size(),
                                points.frames.front().frame, points.frames.back().frame));
  }
  lines.push_back(fmt::format("points:         {}", point_count(points)));
  lines.push_back("length unit:    " + points.length_unit);
  lines.push_back("frame interval: " + (points.dt_s
                                            ? fmt::format("{:g} s", *points.dt_s)
                                            : "unknown, so times are frame numbers (input.dt_s sets it)"));
  for (const std::string& note : points.notes) lines.push_back("note:           " + note);
  return lines;
}

std::vector<std::string> describe(const OpenedInput& input) {
  return input.source ? describe(input.source->info())
                      : describe(input.points, input.path, input.point_format);
}

ordered_json to_json(const io::SeriesInfo& info) {
  ordered_json json{{"path", info.path},
                    {"format", info.format},
                    {"axes", info.axes},
                    {"frames", info.frames},
                    {"shape_zyx", {info.shape.nz, info.shape.ny, info.shape.nx}},
                    {"type", io::to_string(info.type)},
                    {"channel", info.channel},
                    {"channels", info.channels},
                    {"length_unit", "um"},
                    {"voxel_um_zyx", nullptr},
                    {"voxel_um_source", info.voxel_um_source},
                    {"dt_s", nullptr},
                    {"dt_s_source", info.dt_s_source},
                    {"notes", info.notes}};
  if (info.voxel_um) json["voxel_um_zyx"] = zyx_json(*info.voxel_um);
  if (info.dt_s) json["dt_s"] = *info.dt_s;
  return json;
}

ordered_json to_json(const io::PointTable& points, const std::string& path, const std::string& format) {
  ordered_json json{{"path", path},
                    {"format", format},
                    {"frames", points.frames.size()},
                    {"points", point_count(points)},
                    {"length_unit", points.length_unit},
                    {"dt_s", nullptr},
                    {"notes", points.notes}};
  if (points.dt_s) json["dt_s"] = *points.dt_s;
  return json;
}

ordered_json to_json(const OpenedInput& input) {
  return input.source ? to_json(input.source->info()) : to_json(input.points, input.path, input.point_format);
}

}  // namespace motes::app
