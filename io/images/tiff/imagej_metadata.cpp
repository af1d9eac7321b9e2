/// ImageJ writes "key=value" lines into the first page's description. Pages are always in the order XYCZT.
/// The pixel size is in the resolution tags (pixels per unit), the unit in the text. `spacing` is omitted if
/// it is exactly 1; tifffile, whose version is 1.11a, also omits it if it is unknown.

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "io/images/tiff/metadata.h"
#include "io/images/units.h"

namespace motes::io::detail {
namespace {

using Lines = std::map<std::string, std::string, std::less<>>;

Lines split_lines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (const std::size_t equals = line.find('='); equals != std::string_view::npos)
      lines.emplace(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view value_of(const Lines& lines, std::string_view key) {
  const auto found = lines.find(key);
  return found == lines.end() ? std::string_view() : std::string_view(found->second);
}

/// A count; 1 if missing or not a positive integer.
std::int64_t count_of(const Lines& lines, std::string_view key) {
  return std::max<std::int64_t>(1, parse_trimmed_integer(value_of(lines, key)).value_or(1));
}

void read_axes(const Lines& lines, TiffMetadata& found) {
  const std::int64_t images = count_of(lines, "images");
  found.axes = {
      {'T', count_of(lines, "frames")}, {'Z', count_of(lines, "slices")}, {'C', count_of(lines, "channels")}};
  const std::int64_t planes = page_count(found.axes).value_or(0);
  found.pages_stated = lines.find("images") == lines.end() ? planes : images;
  if (planes == images || lines.find("images") == lines.end()) {
    if (planes <= 1 || found.axes[1].size != planes || lines.find("hyperstack") != lines.end()) return;
    if (lines.find("spacing") == lines.end()) {
      found.open_reason =
          "ImageJ calls every plain stack 'slices', and its metadata give no spacing of planes: the "
          "pages may be times";
      return;
    }
    found.notes.push_back("ImageJ calls every plain stack 'slices': if the pages are times, give --axes TYX");
    return;
  }
  found.open_reason =
      planes == 1 ? fmt::format("ImageJ's metadata name {} images, but neither slices nor frames", images)
                  : fmt::format("ImageJ's metadata name {} images, but frames x slices x channels make {}",
                                images, planes);
}

std::optional<double> micrometres_per_unit(const Lines& lines, const PageResolution& resolution,
                                           TiffMetadata& found) {
  const std::string unit(value_of(lines, "unit"));
  if (unit == "m" || unit == "meter" || unit == "metre") {
    found.notes.push_back(
        "the metadata give the pixel size in metres, which is not credible: set input.voxel_um");
    return std::nullopt;
  }
  if (const auto factor = length_unit_um(unit)) return factor;
  if (!unit.empty()) {
    found.notes.push_back(
        fmt::format("the metadata's unit of length ('{}') is not a length: set input.voxel_um", unit));
    return std::nullopt;
  }
  if (resolution.unit == PageResolution::Unit::centimetre) return length_unit_um("cm");
  // Writers that do not know the resolution state 72 dots per inch.
  if (resolution.unit == PageResolution::Unit::inch && resolution.x && std::abs(*resolution.x - 72) > 1e-3)
    return length_unit_um("inch");
  return std::nullopt;
}

/// ImageJ names the units of y and z if they differ from that of x.
std::optional<double> unit_of_axis(const Lines& lines, const char* key, double unit_um, TiffMetadata& found) {
  const std::string_view name = value_of(lines, key);
  if (name.empty()) return unit_um;
  const auto factor = length_unit_um(name);
  if (!factor)
    found.notes.push_back(
        fmt::format("the metadata's {} ('{}') is not a length: set input.voxel_um", key, name));
  return factor;
}

void read_scale(const Lines& lines, const PageResolution& resolution, TiffMetadata& found) {
  const auto unit_um = micrometres_per_unit(lines, resolution, found);
  if (!unit_um || !resolution.x || !resolution.y) return;
  const auto y_unit_um = unit_of_axis(lines, "yunit", *unit_um, found);
  const auto z_unit_um = unit_of_axis(lines, "zunit", *unit_um, found);
  if (!y_unit_um) return;
  found.calibration.x_um = *unit_um / *resolution.x;
  found.calibration.y_um = *y_unit_um / *resolution.y;
  if (!z_unit_um) return;
  // A flipped ImageJ stack has a negative spacing; its magnitude is the distance of planes.
  if (const auto spacing = parse_trimmed_number(value_of(lines, "spacing"))) {
    if (const double size = std::abs(*spacing); std::isfinite(size) && size > 0)
      found.calibration.z_um = size * *z_unit_um;
  } else if (value_of(lines, "ImageJ") != "1.11a" && found.axes[1].size > 1) {
    found.calibration.z_um = *z_unit_um;
    found.notes.push_back(
        fmt::format("no spacing of planes in the metadata: {} um, since ImageJ omits a spacing of 1 "
                    "unit; set input.voxel_um if that is wrong",
                    *z_unit_um));
  }
}

void read_interval(const Lines& lines, TiffMetadata& found) {
  const std::string_view unit_name = value_of(lines, "tunit");
  const auto unit_s = unit_name.empty() ? 1.0 : time_unit_s(unit_name);
  if (!unit_s) {
    found.notes.push_back(
        fmt::format("the metadata's unit of time ('{}') is not known: set input.dt_s", unit_name));
  } else if (const auto interval = parse_positive(value_of(lines, "finterval"))) {
    found.calibration.dt_s = *interval * *unit_s;
  } else if (const auto rate = parse_positive(value_of(lines, "fps"))) {
    found.calibration.dt_s = 1.0 / *rate;
    found.notes.push_back(
        "the frame interval is taken from fps, which may be a playback speed: check input.dt_s");
  }
}

}  // namespace

bool is_imagej(const std::string& description) { return description.starts_with("ImageJ="); }

TiffMetadata read_imagej_metadata(const PageFile& file) {
  TiffMetadata found;
  found.format = "ImageJ TIFF";
  found.calibration.source = "metadata (ImageJ)";
  const Lines lines = split_lines(file.description());
  read_axes(lines, found);
  read_scale(lines, file.resolution(), found);
  if (found.axes[0].size > 1 || !found.open_reason.empty()) read_interval(lines, found);
  return found;
}

}  // namespace motes::io::detail
