/// Reads and writes the HDF5 group /detections.

#include "io/tracks/h5/detections_group.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

namespace motes::io::detail {
namespace {

using Known = std::vector<double> Detections::*;
constexpr std::pair<const char*, Known> kOptional[] = {{"radius_um", &Detections::radius_um},
                                                       {"intensity", &Detections::intensity},
                                                       {"quality", &Detections::quality}};

std::vector<double> read_column(const h5::Reader& file, const std::string& name, std::size_t length) {
  std::vector<double> values = file.doubles(name);
  if (values.size() != length) file.fail("the arrays of /detections differ in length");
  return values;
}

std::vector<double> part(const std::vector<double>& values, std::int64_t begin, std::int64_t end) {
  return {values.begin() + begin, values.begin() + end};
}

}  // namespace

std::string encoded_property(const std::string& name) {
  if (name.empty()) return "%";
  std::string out;
  for (const char c : name) {
    if (c == '/') {
      out += "%2F";
    } else if (c == '%') {
      out += "%25";
    } else if (c == '.' && name.find_first_not_of('.') == std::string::npos) {
      out += "%2E";
    } else {
      out += c;
    }
  }
  return out;
}

std::string decoded_property(const std::string& name) {
  if (name == "%") return "";
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view code = std::string_view(name).substr(i, 3);
    const char c = code == "%2F" ? '/' : code == "%25" ? '%' : code == "%2E" ? '.' : '\0';
    out += c == '\0' ? name[i] : c;
    if (c != '\0') i += 2;
  }
  return out;
}

void write_properties(h5::Writer& file, const std::string& group,
                      const std::vector<PropertyColumn>& columns) {
  file.group(group);
  for (const PropertyColumn& column : columns)
    file.dataset(group + "/" + encoded_property(column.name), column.values);
}

std::vector<PropertyColumn> read_properties(const h5::Reader& file, const std::string& group,
                                            std::size_t length) {
  std::vector<PropertyColumn> columns;
  if (!file.has(group)) return columns;
  for (const std::string& name : file.names(group)) {
    columns.push_back({decoded_property(name), file.doubles(group + "/" + name)});
    if (columns.back().values.size() != length) file.fail(group + "/" + name + " has the wrong length");
  }
  return columns;
}

void write_detections_group(h5::Writer& file, const PooledDetections& detections, bool all) {
  file.group("/detections");
  file.dataset("/detections/frame_offsets", detections.offsets);
  file.dataset("/detections/frame", detections.frame);
  file.dataset("/detections/time_s", detections.time_s);
  file.dataset("/detections/x_um", detections.x_um);
  file.dataset("/detections/y_um", detections.y_um);
  file.dataset("/detections/z_um", detections.z_um);
  const auto optional = [&](const std::string& name, const std::vector<double>& values) {
    if (!values.empty())
      file.dataset(name, values);
    else if (all)
      file.dataset(name, std::vector<double>(detections.points(), std::numeric_limits<double>::quiet_NaN()));
  };
  optional("/detections/radius_um", detections.radius_um);
  optional("/detections/intensity", detections.intensity);
  optional("/detections/quality", detections.quality);
  write_properties(file, "/detections/properties", detections.properties);
}

std::vector<Detections> read_detections_group(const h5::Reader& file) {
  const std::vector<std::int64_t> offsets = file.int64s("/detections/frame_offsets");
  const std::vector<std::int32_t> numbers = file.int32s("/detections/frame");
  const std::vector<double> times = file.doubles("/detections/time_s");
  if (offsets.empty() || offsets.size() - 1 != numbers.size() || times.size() != numbers.size())
    file.fail("the lengths of /detections/frame_offsets, frame and time_s do not match");
  if (offsets.front() != 0 || !std::is_sorted(offsets.begin(), offsets.end()))
    file.fail("/detections/frame_offsets must rise from 0");
  if (std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) != numbers.end() ||
      (!numbers.empty() && numbers.front() < 0))
    file.fail("/detections/frame must rise, from 0 or later");
  const auto total = static_cast<std::size_t>(offsets.back());
  const std::vector<double> x = read_column(file, "/detections/x_um", total),
                            y = read_column(file, "/detections/y_um", total),
                            z = read_column(file, "/detections/z_um", total);
  for (const auto* values : {&x, &y, &z, &times})
    if (!std::all_of(values->begin(), values->end(), [](double value) { return std::isfinite(value); }))
      file.fail("/detections has coordinates or times that are not finite");
  std::vector<std::pair<Known, std::vector<double>>> optional;
  for (const auto& [name, field] : kOptional) {
    const std::string path = std::string("/detections/") + name;
    optional.emplace_back(
        field, file.has(path) ? read_column(file, path, total) : std::vector<double>(total, std::nan("")));
  }
  const std::vector<PropertyColumn> properties = read_properties(file, "/detections/properties", total);
  std::vector<Detections> frames(numbers.size());
  for (std::size_t k = 0; k < frames.size(); ++k) {
    Detections& frame = frames[k];
    const std::int64_t begin = offsets[k], end = offsets[k + 1];
    frame.frame = numbers[k];
    frame.time_s = times[k];
    frame.x_um = part(x, begin, end);
    frame.y_um = part(y, begin, end);
    frame.z_um = part(z, begin, end);
    for (const auto& [field, values] : optional) frame.*field = part(values, begin, end);
    for (const PropertyColumn& column : properties)
      frame.properties.push_back({column.name, part(column.values, begin, end)});
  }
  return frames;
}

}  // namespace motes::io::detail
