/// Parses the XML of BigDataViewer.

#include "io/images/chunked/bdv_xml.h"

#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include <motes/base/errors.h>
#include <motes/io/input_policy.h>

#include "io/images/units.h"

namespace motes::io::detail {
namespace {

constexpr std::int64_t kMaxTimepoints = 10'000'000;

std::filesystem::path images_of(const std::filesystem::path& path, const pugi::xml_node& root) {
  const pugi::xml_node loader = root.child("SequenceDescription").child("ImageLoader");
  const std::string format = loader.attribute("format").value();
  pugi::xml_node location = loader.child("hdf5") ? loader.child("hdf5") : loader.child("n5");
  if (!location) location = loader.child("Url");
  const std::string name(trimmed(location.child_value()));
  if (name.empty()) {
    fail_bdv(path, fmt::format("its images are in the format '{}'; motes reads bdv.hdf5, bdv.n5 and OME-Zarr",
                               format));
  }
  const std::filesystem::path base = std::string(trimmed(root.child_value("BasePath")));
  const std::filesystem::path folder = path.parent_path();
  const std::filesystem::path images = (folder / base / name).lexically_normal();
  const std::filesystem::path within =
      images.lexically_relative(folder.empty() ? "." : folder.lexically_normal());
  if (!input_policy().allow_outside && (within.empty() || *within.begin() == ".."))
    throw InputError(
        fmt::format("{}: its images are outside its folder ({}); add --allow-outside if you "
                    "trust this file",
                    path.string(), images.string()));
  return images;
}

void add_range(const std::filesystem::path& path, std::int64_t first, std::int64_t last, std::int64_t step,
               std::vector<std::int64_t>& out) {
  if (first < 0 || last < first || step < 1 || last > kMaxTimepoints)
    fail_bdv(path, fmt::format("Timepoints {} to {} by {} are not a range", first, last, step));
  if (std::ssize(out) + (last - first) / step >= kMaxTimepoints)
    fail_bdv(path, fmt::format("Timepoints name more than {} time points", kMaxTimepoints));
  for (std::int64_t t = first; t <= last; t += step) out.push_back(t);
}

/// Parses a pattern such as "0-10:2, 15, 20-22".
void add_pattern(const std::filesystem::path& path, const std::string& pattern,
                 std::vector<std::int64_t>& out) {
  std::istringstream items(pattern);
  for (std::string item; std::getline(items, item, ',');) {
    const std::size_t colon = item.find(':');
    const std::string range = item.substr(0, colon);
    const std::size_t dash = range.find('-');
    const auto first = parse_trimmed_integer(range.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_trimmed_integer(range.substr(dash + 1));
    const auto step = colon == std::string::npos ? std::optional<std::int64_t>(1)
                                                 : parse_trimmed_integer(item.substr(colon + 1));
    if (!first || !last || !step) fail_bdv(path, fmt::format("Timepoints '{}' are not a pattern", pattern));
    add_range(path, *first, *last, *step, out);
  }
}

std::vector<std::int64_t> timepoints_of(const std::filesystem::path& path, const pugi::xml_node& root) {
  const pugi::xml_node node = root.child("SequenceDescription").child("Timepoints");
  std::vector<std::int64_t> out;
  if (const pugi::xml_node first = node.child("first")) {
    const auto from = parse_trimmed_integer(first.child_value());
    const auto to = parse_trimmed_integer(node.child_value("last"));
    if (!from || !to) fail_bdv(path, "Timepoints have no first and last number");
    add_range(path, *from, *to, 1, out);
  } else if (const pugi::xml_node pattern = node.child("integerpattern")) {
    add_pattern(path, pattern.child_value(), out);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

BdvSetup setup_of(const pugi::xml_node& node) {
  BdvSetup setup;
  const pugi::xml_node voxel = node.child("voxelSize");
  setup.unit = std::string(trimmed(voxel.child_value("unit")));
  std::istringstream words(voxel.child_value("size"));
  std::array<double, 3> size{};
  for (double& s : size) {
    std::string word;
    words >> word;
    s = parse_positive(word).value_or(0);
  }
  if (size[0] > 0 && size[1] > 0 && size[2] > 0) setup.voxel_size = {size[0], size[1], size[2]};
  const pugi::xml_node attributes = node.child("attributes");
  for (const char* name : {"angle", "illumination", "tile"})
    setup.view_kind += fmt::format("{}={};", name, trimmed(attributes.child_value(name)));
  return setup;
}

}  // namespace

bool is_bdv_xml_head(const std::string& head) {
  return trimmed(head).starts_with('<') && head.find("<SpimData") != std::string::npos;
}

void fail_bdv(const std::filesystem::path& path, const std::string& what) {
  throw InputError(fmt::format("{}: {}; export it again from BigDataViewer", path.string(), what));
}

BdvXml read_bdv_xml(const std::filesystem::path& path) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_file(path.c_str());
  if (!result) fail_bdv(path, fmt::format("byte {}: {}", result.offset, result.description()));
  const pugi::xml_node root = document.child("SpimData");
  if (!root) fail_bdv(path, "has no SpimData");
  BdvXml found;
  found.images = images_of(path, root);
  found.timepoints = timepoints_of(path, root);
  for (const pugi::xml_node& node :
       root.child("SequenceDescription").child("ViewSetups").children("ViewSetup")) {
    const auto id = parse_trimmed_integer(node.child_value("id"));
    if (!id || *id < 0) fail_bdv(path, "a ViewSetup has no id");
    found.setups[*id] = setup_of(node);
  }
  return found;
}

}  // namespace motes::io::detail
