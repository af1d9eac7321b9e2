/// Reads Picasso's localisations as the columns of a table.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include <motes/base/errors.h>
#include <motes/io/picasso.h>

#include "io/files/text.h"
#include "io/hdf5/reader.h"
#include "io/tracks/tables/point_tables.h"

namespace motes::io {
namespace {

constexpr const char* kLocs = "/locs";
constexpr double kMostCoordinate = 1e100;

std::string place(const std::filesystem::path& path, std::int64_t row) {
  return path.string() + ": locs[" + std::to_string(row) + "]";
}

/// `Pixelsize` in nm of the text's lines; none if it is not there, or has several values.
std::optional<double> pixel_size_nm(std::string_view yaml) {
  constexpr std::string_view kKey = "Pixelsize:";
  std::optional<double> found;
  while (!yaml.empty()) {
    const std::size_t end = std::min(yaml.find('\n'), yaml.size());
    const std::string_view line = detail::trimmed(yaml.substr(0, end));
    yaml.remove_prefix(std::min(end + 1, yaml.size()));
    if (!line.starts_with(kKey)) continue;
    const auto value = detail::parse_trimmed_number(line.substr(kKey.size()));
    if (!value || !std::isfinite(*value) || *value <= 0 || (found && *found != *value)) return std::nullopt;
    found = value;
  }
  return found;
}

class LocsReader {
 public:
  LocsReader(const std::filesystem::path& path, const TableOptions& options)
      : path_(path), options_(options), file_(path), names_(file_.members(kLocs)) {
    detail::require_positive(options);
  }

  /// The columns; with `identities` also the track of each row, which is then required.
  detail::PointColumns run(bool identities) {
    if (names_.empty()) file_.fail("locs is not a dataset of records with columns frame, x, y");
    take_frames();
    take_coordinate("x", out_.x);
    take_coordinate("y", out_.y);
    if (has("z")) take_coordinate("z", out_.z);
    if (!has("z")) out_.notes.push_back("no z column: z is 0 throughout");
    if (out_.z.empty()) out_.z.assign(out_.size(), 0.0);
    const std::string track = has("track_id") ? "track_id" : has("group") ? "group" : "";
    if (identities) take_tracks(track);
    if (!identities && track == "track_id") out_.identity_names.push_back(track);
    for (const std::string& name : names_)
      if (name != "frame" && name != "x" && name != "y" && name != "z" && name != "track_id" &&
          (!identities || name != track))
        take_property(name);
    settle_lengths();
    out_.line.resize(out_.size());
    std::iota(out_.line.begin(), out_.line.end(), std::int64_t{0});
    return std::move(out_);
  }

 private:
  bool has(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }

  std::vector<double> column(const std::string& name) const {
    if (!has(name)) file_.fail("locs has no column " + name);
    return file_.doubles(kLocs, name);
  }

  [[noreturn]] void bad_value(std::size_t row, const std::string& name, double value,
                              const std::string& what) const {
    std::string text;
    detail::append_number(text, value);
    throw InputError(place(path_, static_cast<std::int64_t>(row)) + ": " + name + " is " + text + "; " +
                     what);
  }

  void take_frames() {
    const std::vector<double> frames = column("frame");
    for (std::size_t row = 0; row < frames.size(); ++row) {
      const double frame = frames[row];
      if (!(frame >= 0 && frame <= std::numeric_limits<std::int32_t>::max() && frame == std::floor(frame)))
        bad_value(row, "frame", frame, "a whole number from 0 to 2147483647 is needed");
      out_.frame.push_back(static_cast<std::int32_t>(frame));
    }
  }

  void take_coordinate(const std::string& name, std::vector<double>& to) {
    to = column(name);
    for (std::size_t row = 0; row < to.size(); ++row)
      if (!(std::abs(to[row]) <= kMostCoordinate))
        bad_value(row, name, to[row], "coordinates must be finite and below 1e100; remove the row");
  }

  void take_property(const std::string& name) {
    if (!is_number(name)) {
      out_.notes.push_back("column '" + name + "' is left out: it does not hold standard numbers");
      return;
    }
    out_.properties.push_back({name, column(name)});
  }

  bool is_number(const std::string& name) const {
    try {
      return file_.dataset(kLocs, name).has_value();
    } catch (const InputError&) {
      return false;
    }
  }

  void take_tracks(const std::string& name) {
    if (name.empty())
      throw InputError(path_.string() +
                       ": locs has no column track_id or group; find tracks with motes track");
    const std::vector<double> numbers = column(name);
    constexpr double kMost = 0x1p53;
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      const double number = numbers[row];
      const bool none = std::isnan(number) || number < 0;
      if (!none && (number != std::floor(number) || number > kMost))
        bad_value(row, name, number, "a whole number is needed (below 0: no track)");
      out_.track.push_back(none ? std::nullopt : std::optional(static_cast<std::int64_t>(number)));
    }
    out_.identity_names.push_back(name);
  }

  /// Whether lengths are in nm: Picasso 1.0 and later state the format.
  bool in_nanometres() const {
    const auto format = file_.text_attribute("picasso_format");
    if (!format) return false;
    if (!format->starts_with("1."))
      file_.fail("its format is " + format->substr(0, 20) + ", newer than 1; read it with a newer motes");
    return true;
  }

  void scale(double xy_um_x, double xy_um_y) {
    for (double& x : out_.x) x *= xy_um_x;
    for (double& y : out_.y) y *= xy_um_y;
    for (double& z : out_.z) z *= 1e-3;
    out_.micrometres = true;
    if (!out_.properties.empty())
      out_.notes.push_back("other columns, such as lpx, keep the units of the file");
  }

  void settle_lengths() {
    if (in_nanometres()) {
      out_.notes.push_back("lengths are in nm by the file, and converted to um");
      return scale(1e-3, 1e-3);
    }
    if (options_.unit != TableUnit::unknown && options_.unit != TableUnit::px)
      return;  // the user knows better
    if (options_.voxel_um && *options_.voxel_um != Vec3{1, 1, 1})
      return scale(options_.voxel_um->x, options_.voxel_um->y);
    const std::filesystem::path yaml = std::filesystem::path(path_).replace_extension(".yaml");
    const std::optional<double> pixel =
        options_.voxel_um || options_.unit == TableUnit::px ? std::nullopt : pixel_size_beside(yaml);
    if (pixel) {
      std::string text;
      detail::append_number(text, *pixel);
      out_.notes.push_back("a pixel is " + text + " nm by " + yaml.filename().string());
      return scale(*pixel / 1000, *pixel / 1000);
    }
    out_.pixels = true;
    if (has("z"))
      throw UsageError(
          path_.string() +
          ": x and y are in pixels, z is in nm; set the size of a pixel, input.voxel_um (--voxel "
          "Z,Y,X or one number, in um)");
  }

  static std::optional<double> pixel_size_beside(const std::filesystem::path& yaml) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(yaml, ignored)) return std::nullopt;
    std::string text = detail::read_file_start(yaml, kMost);
    if (text.size() == kMost) text.resize(text.rfind('\n') + 1);  // not a part of a line
    return pixel_size_nm(text);
  }

  std::filesystem::path path_;
  const TableOptions& options_;
  detail::h5::Reader file_;
  std::vector<std::string> names_;
  detail::PointColumns out_;
};

}  // namespace

bool is_picasso(const std::filesystem::path& path) {
  return detail::h5::holds(path, {kLocs}, {"/tracks", "/detections"});
}

PointTable read_picasso_points(const std::filesystem::path& path, const TableOptions& options) {
  detail::PointColumns columns = LocsReader(path, options).run(false);
  if (columns.size() == 0) throw InputError(path.string() + ": locs has no rows; there is nothing to track");
  return detail::points_of_columns(std::move(columns), options, path.string());
}

TrackSet read_picasso_tracks(const std::filesystem::path& path, const TableOptions& options,
                             std::vector<std::string>* notes) {
  return detail::tracks_of_columns(
      LocsReader(path, options).run(true), options, [&](std::int64_t row) { return place(path, row); },
      notes);
}

}  // namespace motes::io
