/// Recognises and parses the metadata of a TIFF's first page.

#include "io/images/tiff/metadata.h"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/files/checked.h"
#include "io/images/units.h"

namespace motes::io::detail {
namespace {

using Json = nlohmann::json;

/// tifffile's {"shape": [5, 29, 40, 70], "axes": "TZYX"}; `discarded` for any other text.
Json shaped_json(const std::string& description) {
  const std::string_view text = trimmed(description);
  if (!text.starts_with('{') || text.find("\"shape\"") == std::string_view::npos)
    return Json(Json::value_t::discarded);
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json["shape"].is_array()) return Json(Json::value_t::discarded);
  return json;
}

bool read_shape(const Json& shape, std::vector<std::int64_t>& sizes) {
  for (const Json& size : shape) {
    if (!size.is_number_integer() || size.get<std::int64_t>() <= 0) return false;
    sizes.push_back(size.get<std::int64_t>());
  }
  return sizes.size() >= 2;
}

/// Names the axes of the sizes; false if a letter other than T, Z, C, or a repeated one, has several entries.
bool name_axes(const std::string& letters, const std::vector<std::int64_t>& sizes, PageAxes& axes) {
  if (letters.size() != sizes.size() || !letters.ends_with("YX")) return false;
  for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
    const bool known =
        std::string_view("TZC").find(letters[i]) != std::string_view::npos && letters.find(letters[i]) == i;
    if (!known && sizes[i] != 1) return false;
    if (known) axes.push_back({letters[i], sizes[i]});
  }
  return true;
}

/// Removes the axis of a pixel's samples (RGB): the last, or the one before y.
void drop_samples(const PageFile& file, std::vector<std::int64_t>& sizes, std::string& letters) {
  if (file.samples() == 1 || sizes.size() < 3) return;
  std::size_t axis = sizes.size() - 1;
  if (sizes[axis] != file.samples() || sizes[axis - 1] != file.format().width) axis -= 2;
  if (sizes[axis] != file.samples()) return;
  if (letters.size() == sizes.size()) letters.erase(axis, 1);
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
}

TiffMetadata read_shaped_metadata(const PageFile& file, const Json& json) {
  TiffMetadata found;
  found.format = "TIFF (tifffile)";
  found.calibration.source = "metadata (tifffile)";
  std::vector<std::int64_t> sizes;
  const Json names = json.value("axes", Json());
  std::string letters = names.is_string() ? names.get<std::string>() : "";
  const bool readable = read_shape(json["shape"], sizes);
  drop_samples(file, sizes, letters);
  if (!readable || sizes[sizes.size() - 1] != file.format().width ||
      sizes[sizes.size() - 2] != file.format().height) {
    found.open_reason = "its shape in the metadata does not match its pages";
    return found;
  }
  found.pages_stated = 1;
  for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
    found.pages_stated =
        checked_product({found.pages_stated, sizes[i]}).value_or(std::numeric_limits<std::int64_t>::max());
  }
  if (name_axes(letters, sizes, found.axes)) return found;
  found.axes.clear();
  sizes.resize(sizes.size() - 2);
  found.leading_shape = sizes;
  if (!sizes.empty())
    found.open_reason = fmt::format("its metadata give a shape, but do not say which axis is z and which t");
  return found;
}

}  // namespace

TiffMetadata read_tiff_metadata(const PageFile& file) {
  const std::string& description = file.description();
  if (is_ome_xml(description)) return read_ome_metadata(file);
  if (is_imagej(description)) return read_imagej_metadata(file);
  if (const Json json = shaped_json(description); !json.is_discarded())
    return read_shaped_metadata(file, json);
  TiffMetadata plain;
  plain.format = file.kind();
  plain.calibration.source = fmt::format("metadata ({})", file.kind());
  if (file.pages() > 1)
    plain.open_reason = "a plain TIFF does not say whether its pages are z, t or channels";
  return plain;
}

}  // namespace motes::io::detail
