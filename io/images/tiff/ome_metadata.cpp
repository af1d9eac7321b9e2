/// OME-XML (schema 2016-06 and earlier) in the first page's description. DimensionOrder names the axes,
/// fastest first. TiffData elements state the pages of planes: each starts at plane (FirstC, FirstZ, FirstT)
/// and page IFD and covers PlaneCount planes in DimensionOrder. Without IFD and PlaneCount, one element
/// covers all planes. A UUID with a FileName states the file of a set that has the pages.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <pugixml.hpp>

#include <motes/base/errors.h>
#include <motes/io/input_policy.h>

#include "io/images/frame_interval.h"
#include "io/images/tiff/metadata.h"
#include "io/images/units.h"

namespace motes::io::detail {
namespace {

constexpr std::int64_t kAbsent = -1;
constexpr std::int64_t kMostTimes = 10'000'000;
constexpr std::int64_t kMostPlanes = 100'000'000;
constexpr std::int64_t kMostPages = std::int64_t{1} << 40;  // per file
constexpr double kSameInterval = 0.05;

/// Element names without their namespace prefix ("OME:Pixels").
std::string_view local_name(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

pugi::xml_node child_named(const pugi::xml_node& parent, std::string_view name) {
  for (const pugi::xml_node& child : parent.children()) {
    if (local_name(child) == name) return child;
  }
  return {};
}

class OmeReader {
 public:
  OmeReader(const PageFile& file, const std::string& text) : file_(file) {
    const pugi::xml_parse_result result = document_.load_buffer(text.data(), text.size());
    if (!result) {
      fail(fmt::format("byte {} of the OME-XML in the first page: {}", result.offset, result.description()));
    }
    root_ = document_.document_element();
    if (const pugi::xml_node elsewhere = child_named(root_, "BinaryOnly"))
      throw InputError(fmt::format("{}: its metadata are in the file '{}'; give that file",
                                   file.path().string(), elsewhere.attribute("MetadataFile").value()));
    const pugi::xml_node image = child_named(root_, "Image");
    pixels_ = child_named(image, "Pixels");
    if (!pixels_) fail("the OME-XML in the first page has no Image with Pixels");
  }

  TiffMetadata read() {
    found_.format = "OME-TIFF";
    found_.calibration.source = "metadata (OME)";
    read_axes();
    read_scale();
    if (found_.open_reason.empty()) read_planes();
    const auto images = std::count_if(root_.children().begin(), root_.children().end(),
                                      [](const pugi::xml_node& n) { return local_name(n) == "Image"; });
    if (images > 1) found_.notes.push_back(fmt::format("{} images in the file: the first is read", images));
    return std::move(found_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: {}; export it again, or set input.axes", file_.path().string(), what));
  }

  /// An attribute that is a count or an index; `otherwise` if missing. Throws for any other text.
  std::int64_t number(const pugi::xml_node& node, const char* name, std::int64_t least,
                      std::int64_t otherwise) const {
    const pugi::xml_attribute attribute = node.attribute(name);
    if (!attribute) return otherwise;
    const auto value = parse_trimmed_integer(attribute.value());
    if (!value || *value < least) fail(fmt::format("OME-XML: {} is '{}'", name, attribute.value()));
    return *value;
  }

  std::int64_t size_of(const char* name) const {
    const std::int64_t size = number(pixels_, name, 1, kAbsent);
    if (size == kAbsent) fail(fmt::format("OME-XML: Pixels has no {}", name));
    return size;
  }

  void read_axes() {
    if (size_of("SizeX") != file_.format().width || size_of("SizeY") != file_.format().height) {
      fail(fmt::format("OME-XML says {} x {} pixels, the page holds {} x {}", size_of("SizeX"),
                       size_of("SizeY"), file_.format().width, file_.format().height));
    }
    std::string order = pixels_.attribute("DimensionOrder").value();
    std::string sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != "CTXYZ" || !order.starts_with("XY"))
      fail(fmt::format("OME-XML: DimensionOrder is '{}'", order));
    for (const char letter : {order[4], order[3], order[2]}) {
      const char* name = letter == 'T' ? "SizeT" : letter == 'Z' ? "SizeZ" : "SizeC";
      found_.axes.push_back({letter, size_of(name)});
      // Red, green and blue of one page count as channels.
      if (letter == 'C' && found_.axes.back().size % file_.samples() == 0)
        found_.axes.back().size /= file_.samples();
    }
  }

  std::optional<double> length_um(const char* name) {
    const auto value = parse_positive(pixels_.attribute(name).value());
    if (!value) return std::nullopt;
    const pugi::xml_attribute unit = pixels_.attribute((std::string(name) + "Unit").c_str());
    const auto factor = unit ? length_unit_um(unit.value()) : 1.0;
    if (!factor) {
      found_.notes.push_back(fmt::format(
          "the metadata's {} is in '{}', which is not a length: set input.voxel_um", name, unit.value()));
      return std::nullopt;
    }
    return *value * *factor;
  }

  void read_scale() {
    found_.calibration.x_um = length_um("PhysicalSizeX");
    found_.calibration.y_um = length_um("PhysicalSizeY");
    found_.calibration.z_um = length_um("PhysicalSizeZ");
    const auto interval = parse_positive(pixels_.attribute("TimeIncrement").value());
    const pugi::xml_attribute unit = pixels_.attribute("TimeIncrementUnit");
    const auto factor = unit ? time_unit_s(unit.value()) : 1.0;
    if (interval && factor) found_.calibration.dt_s = *interval * *factor;
    if (interval && !factor)
      found_.notes.push_back(
          fmt::format("the metadata's TimeIncrementUnit ('{}') is not known: set input.dt_s", unit.value()));
    read_plane_times();
  }

  /// The interval from the times of planes (the earliest of each frame), if the file states no other.
  void read_plane_times() {
    std::map<std::int32_t, double> earliest;
    for (const pugi::xml_node& plane : pixels_.children()) {
      if (local_name(plane) != "Plane") continue;
      const auto t = parse_trimmed_integer(plane.attribute("TheT").value());
      const auto delta = parse_trimmed_number(plane.attribute("DeltaT").value());
      const pugi::xml_attribute unit = plane.attribute("DeltaTUnit");
      const auto factor = unit ? time_unit_s(unit.value()) : 1.0;
      if (!t || *t < 0 || *t >= kMostTimes || !delta || !std::isfinite(*delta) || !factor) continue;
      const auto [found, added] = earliest.emplace(static_cast<std::int32_t>(*t), *delta * *factor);
      if (!added) found->second = std::min(found->second, *delta * *factor);
    }
    std::vector<std::int32_t> frames;
    std::vector<double> times;
    for (const auto& [t, time] : earliest) {
      frames.push_back(t);
      times.push_back(time);
    }
    if (frames.size() < 2) return;
    auto dt = infer_interval(frames, times);
    const bool regular = dt.has_value();
    if (!dt) dt = mean_interval(frames, times);
    if (!dt) return;
    const auto stated = found_.calibration.dt_s;
    if (stated && std::abs(*stated - *dt) > kSameInterval * *stated)
      found_.notes.push_back(
          fmt::format("the metadata state {:g} s per frame, their planes' times {:g} s: the first is used; "
                      "set input.dt_s for another",
                      *stated, *dt));
    if (stated) return;
    found_.calibration.dt_s = dt;
    found_.notes.push_back(
        regular ? "the frame interval is that of the planes' times (DeltaT)"
                : "the planes' times (DeltaT) are not regular: the frame interval is their mean");
  }

  /// Index in [nt * nz * nc], c fastest, of the n-th plane in DimensionOrder.
  std::int64_t table_index(std::int64_t n) const {
    std::int64_t t = 0, z = 0, c = 0, nz = 1, nc = 1;
    for (auto axis = found_.axes.rbegin(); axis != found_.axes.rend(); ++axis) {
      const std::int64_t at = n % axis->size;
      n /= axis->size;
      (axis->letter == 'T' ? t : axis->letter == 'Z' ? z : c) = at;
      if (axis->letter == 'Z') nz = axis->size;
      if (axis->letter == 'C') nc = axis->size;
    }
    return (t * nz + z) * nc + c;
  }

  /// The position in DimensionOrder of the plane at which a TiffData element starts.
  std::int64_t first_plane(const pugi::xml_node& element) const {
    std::int64_t position = 0;
    for (const PageAxis& axis : found_.axes) {
      const char* name = axis.letter == 'T' ? "FirstT" : axis.letter == 'Z' ? "FirstZ" : "FirstC";
      const std::int64_t first = number(element, name, 0, 0);
      if (first >= axis.size) fail(fmt::format("OME-XML: {} is {} of {}", name, first, axis.size));
      position = position * axis.size + first;
    }
    return position;
  }

  /// The files of a set, in the order of their first mention; a single one is this file, whatever its name.
  std::vector<std::string> files_of_set() const {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const pugi::xml_node& element : pixels_.children()) {
      if (local_name(element) != "TiffData") continue;
      const pugi::xml_node uuid = child_named(element, "UUID");
      if (!uuid) continue;
      const std::string name = uuid.attribute("FileName").value();
      if (seen.insert(name.empty() ? uuid.child_value() : name).second) names.push_back(name);
    }
    return names;
  }

  /// Throws if there are more planes than the files can have pages, so that the size of tables is bounded.
  void require_room(std::int64_t planes, const std::vector<std::string>& names) const {
    constexpr std::int64_t kFew = 100'000, kLeastPageBytes = 16;
    if (planes <= kFew) return;
    std::uintmax_t bytes = 0;
    for (const std::string& name : names) {
      std::error_code missing;
      const auto size = std::filesystem::file_size(file_.path().parent_path() / name, missing);
      if (!missing) bytes += size;
    }
    if (static_cast<std::uintmax_t>(planes) > bytes / kLeastPageBytes)
      fail(fmt::format("OME-XML: names {} planes, more than its {} files can have", planes, names.size()));
  }

  /// Sets the file and page of each plane. Every TiffData names one file.
  void read_set(std::int64_t planes, const std::vector<std::string>& names) {
    std::map<std::string, std::int64_t> file_of;
    for (const std::string& name : names) {
      check_set_file(file_.path(), name);
      file_of.emplace(name, std::ssize(file_of));
    }
    require_room(planes, names);
    std::vector<std::int64_t> pages(static_cast<std::size_t>(planes), kAbsent), files = pages;
    for (const pugi::xml_node& element : pixels_.children()) {
      if (local_name(element) != "TiffData") continue;
      const std::string name = child_named(element, "UUID").attribute("FileName").value();
      const auto file = file_of.find(name);
      const std::int64_t page = number(element, "IFD", 0, 0), first = first_plane(element);
      const std::int64_t count = number(element, "PlaneCount", 0, 1);
      if (page > kMostPages) fail(fmt::format("OME-XML: IFD is {}, which no TIFF has", page));
      if (file == file_of.end() || count > planes - first)
        fail("OME-XML: a TiffData names no file, or exceeds the number of planes");
      for (std::int64_t i = 0; i < count; ++i) {
        pages[static_cast<std::size_t>(table_index(first + i))] = page + i;
        files[static_cast<std::size_t>(table_index(first + i))] = file->second;
      }
    }
    if (const auto hole = std::find(pages.begin(), pages.end(), kAbsent); hole != pages.end())
      fail(fmt::format("OME-XML: no TiffData for plane {} (order TZC) of {}", hole - pages.begin(), planes));
    found_.set_files = names;
    found_.plane_pages = std::move(pages);
    found_.plane_files = std::move(files);
  }

  void read_planes() {
    const auto planes = page_count(found_.axes);
    if (!planes) fail("OME-XML: SizeC x SizeZ x SizeT is too large");
    if (const std::vector<std::string> names = files_of_set(); names.size() > 1) {
      if (*planes > kMostPlanes) fail("OME-XML: SizeC x SizeZ x SizeT is too large");
      return read_set(*planes, names);
    }
    found_.pages_stated = *planes;
    const bool listed = static_cast<bool>(child_named(pixels_, "TiffData"));
    if (!listed || *planes > file_.pages()) return;  // too few pages: the caller reports it
    std::vector<std::int64_t> table(static_cast<std::size_t>(*planes), kAbsent);
    for (const pugi::xml_node& element : pixels_.children()) {
      if (local_name(element) == "TiffData") place(element, *planes, table);
    }
    if (const auto hole = std::find(table.begin(), table.end(), kAbsent); hole != table.end()) {
      fail(fmt::format("OME-XML: no TiffData for plane {} (order TZC) of {}", hole - table.begin(), *planes));
    }
    found_.plane_pages = std::move(table);
  }

  void place(const pugi::xml_node& element, std::int64_t planes, std::vector<std::int64_t>& table) const {
    const std::int64_t page = number(element, "IFD", 0, 0);
    const std::int64_t first = first_plane(element);
    const std::int64_t all = std::min(planes - first, std::max<std::int64_t>(0, file_.pages() - page));
    const std::int64_t count = number(element, "PlaneCount", 0, element.attribute("IFD") ? 1 : all);
    if (page >= file_.pages() || count > file_.pages() - page || count > planes - first) {
      fail(fmt::format("OME-XML: TiffData for {} planes from page {} exceeds the {} pages or {} planes",
                       count, page + 1, file_.pages(), planes));
    }
    for (std::int64_t i = 0; i < count; ++i)
      table[static_cast<std::size_t>(table_index(first + i))] = page + i;
  }

  const PageFile& file_;
  pugi::xml_document document_;
  pugi::xml_node root_, pixels_;
  TiffMetadata found_;
};

}  // namespace

bool is_ome_xml(const std::string& description) {
  const std::string_view head = std::string_view(description).substr(0, 4096);
  return trimmed(head).starts_with('<') &&
         (head.find("<OME") != std::string_view::npos || head.find(":OME ") != std::string_view::npos);
}

TiffMetadata read_ome_metadata(const PageFile& file) { return read_ome_metadata(file, file.description()); }

TiffMetadata read_ome_metadata(const PageFile& file, const std::string& xml) {
  return OmeReader(file, xml).read();
}

void check_set_file(const std::filesystem::path& path, const std::string& name) {
  const bool beside = std::filesystem::path(name).filename() == name && name != "." && name != "..";
  if (!name.empty() && (beside || input_policy().allow_outside)) return;
  throw InputError(
      fmt::format("{}: OME-XML: the set's file '{}' is not the name of a file beside this one; add "
                  "--allow-outside if you trust this file",
                  path.string(), name.substr(0, 100)));
}

std::string first_ome_file(const std::string& xml) {
  pugi::xml_document document;
  if (!document.load_buffer(xml.data(), xml.size())) return {};
  const pugi::xml_node pixels = child_named(child_named(document.document_element(), "Image"), "Pixels");
  const pugi::xml_node data = child_named(pixels, "TiffData");
  return child_named(data, "UUID").attribute("FileName").value();
}

}  // namespace motes::io::detail
