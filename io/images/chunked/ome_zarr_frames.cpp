/// A FrameSource for OME-Zarr images and plain Zarr arrays.

#include "io/images/chunked/ome_zarr_frames.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/io/geff.h>

#include "io/images/calibration.h"
#include "io/images/sample_type.h"
#include "io/images/units.h"
#include "io/images/voxel_buffer.h"
#include "io/zarr/array.h"

namespace motes::io::detail {
namespace {

namespace fs = std::filesystem;
using zarr::Array;
using zarr::Json;
using zarr::Store;
using zarr::text_of;

constexpr std::string_view kAxisLetters = "tczyx";
constexpr std::size_t kNoAxis = std::numeric_limits<std::size_t>::max();

/// The OME metadata of the array.
struct ImageMetadata {
  std::string node;                ///< the array's path
  std::vector<std::string> names;  ///< of the axes
  std::vector<std::string> units;  ///< of the axes, empty: none
  std::vector<double> scale;       ///< of the axes
  std::string version;
  std::vector<std::string> notes;
};

Json list_of(const Json& json, const char* name) {
  if (!json.is_object()) return Json::array();
  const auto found = json.find(name);
  return found != json.end() && found->is_array() ? *found : Json::array();
}

/// The attributes defined by OME; since 0.5 they are under `ome`.
Json ome_attributes(const Store& store) {
  Json attributes = zarr::attributes(store, "");
  const auto ome = attributes.find("ome");
  return ome != attributes.end() && ome->is_object() ? Json(*ome) : attributes;
}

[[noreturn]] void refuse_plate(const Store& store, const Json& plate) {
  std::string example = "A/1/0";
  const Json wells = list_of(plate, "wells");
  if (!wells.empty() && !text_of(wells[0], "path").empty())
    example = text_of(wells[0], "path").substr(0, 60) + "/0";
  throw InputError(fmt::format("{}: is a plate of wells; give the image of one field, for instance {}/{}",
                               store.root().string(), store.root().string(), example));
}

/// Multiplies `scale` by the scale transformations of a list.
void apply_scales(const Json& transformations, std::vector<double>& scale) {
  for (const Json& one : transformations) {
    if (text_of(one, "type") != "scale") continue;
    const Json factors = list_of(one, "scale");
    if (factors.size() != scale.size()) continue;
    for (std::size_t a = 0; a < scale.size(); ++a)
      if (factors[a].is_number()) scale[a] *= factors[a].get<double>();
  }
}

ImageMetadata read_multiscales(const Store& store, const Json& image, const Json& ome) {
  ImageMetadata found;
  found.version = !text_of(image, "version").empty() ? text_of(image, "version") : text_of(ome, "version");
  const Json datasets = list_of(image, "datasets");
  if (datasets.empty() || text_of(datasets[0], "path").empty())
    store.fail("", "its multiscales metadata name no dataset; export it again");
  found.node = text_of(datasets[0], "path");
  for (const Json& axis : list_of(image, "axes")) {
    const std::string name = axis.is_string() ? axis.get<std::string>() : text_of(axis, "name");
    found.names.push_back(lower_case(name));
    found.units.push_back(text_of(axis, "unit"));
  }
  found.scale.assign(found.names.size(), 1.0);
  apply_scales(list_of(datasets[0], "coordinateTransformations"), found.scale);
  apply_scales(list_of(image, "coordinateTransformations"), found.scale);
  const std::size_t levels = datasets.size();
  if (levels > 1) found.notes.push_back(fmt::format("{} resolution levels: the finest is read", levels));
  return found;
}

/// A plain array: its own names of axes, or input.axes.
ImageMetadata read_plain_array(const Store& store, const FrameOptions& options) {
  ImageMetadata found;
  const zarr::ArrayMetadata array = zarr::read_array_metadata(store, "");
  if (options.axes) {
    for (const char letter : *options.axes)
      found.names.emplace_back(1, static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
    if (found.names.size() != array.rank())
      throw UsageError(
          fmt::format("input.axes: '{}' names {} axes, but {} has {}; give one letter of T, C, Z, Y, X "
                      "for each, slowest first",
                      *options.axes, found.names.size(), store.root().string(), array.rank()));
  } else {
    for (const std::string& name : array.dimension_names) found.names.push_back(lower_case(name));
    const Json attributes = zarr::attributes(store, "");
    if (found.names.empty())
      for (const Json& name : list_of(attributes, "_ARRAY_DIMENSIONS"))
        found.names.push_back(name.is_string() ? lower_case(name.get<std::string>()) : "");
  }
  const bool named =
      found.names.size() == array.rank() &&
      std::none_of(found.names.begin(), found.names.end(), [](const auto& n) { return n.empty(); });
  if (!named)
    throw InputError(
        fmt::format("{}: is a Zarr array of {} axes without OME metadata, so their order is unknown; "
                    "set input.axes (--axes) to their order, slowest first, for instance 'TZYX'{}",
                    store.root().string(), array.rank(), ask_for_calibration({}, options)));
  found.units.assign(found.names.size(), "");
  found.scale.assign(found.names.size(), 1.0);
  return found;
}

ImageMetadata read_metadata(Store& store, const FrameOptions& options) {
  if (zarr::is_array(store, "")) return read_plain_array(store, options);
  if (options.axes)
    throw UsageError("input.axes: the axes of OME-Zarr images are in their metadata; remove the key");
  const Json ome = ome_attributes(store);
  if (ome.contains("plate")) refuse_plate(store, ome["plate"]);
  const Json multiscales = list_of(ome, "multiscales");
  if (!multiscales.empty()) {
    ImageMetadata found = read_multiscales(store, multiscales[0], ome);
    if (multiscales.size() > 1)
      found.notes.push_back(fmt::format("{} multiscale images: the first is read", multiscales.size()));
    return found;
  }
  // Converters of vendors' files write each series into its own group.
  if (store.has_folder("1") && (zarr::is_zarr(store.root() / "0")))
    throw InputError(fmt::format("{}: has several images (0, 1 ...); give one of them, for instance {}/0",
                                 store.root().string(), store.root().string()));
  if (zarr::is_zarr(store.root() / "0") && !zarr::is_array(store, "0")) {
    store = Store(store.root() / "0");
    return read_metadata(store, options);
  }
  throw InputError(
      fmt::format("{}: this Zarr group has no image (no multiscales metadata); give an OME-Zarr image, or "
                  "one array with input.axes",
                  store.root().string()));
}

/// The positions of t, c, z, y, x among the array's axes.
using Slots = std::array<std::size_t, 5>;

Slots find_slots(const Store& store, const ImageMetadata& metadata, const zarr::ArrayMetadata& array) {
  Slots slots;
  slots.fill(kNoAxis);
  if (metadata.names.size() != array.rank())
    store.fail(metadata.node, fmt::format("has {} axes, but its metadata name {}; export it again",
                                          array.rank(), metadata.names.size()));
  for (std::size_t a = 0; a < metadata.names.size(); ++a) {
    const std::string& name = metadata.names[a];
    const std::size_t slot = name.size() == 1 ? kAxisLetters.find(name[0]) : std::string_view::npos;
    if (slot == std::string_view::npos) {
      if (array.shape[a] == 1) continue;
      store.fail(
          metadata.node,
          fmt::format("has an unknown axis '{}' of {} entries (known: t, c, z, y, x); export one entry of it",
                      name.substr(0, 40), array.shape[a]));
    }
    if (slots[slot] != kNoAxis)
      store.fail(metadata.node, fmt::format("has two axes '{}'; export it again", name));
    slots[slot] = a;
  }
  if (slots[3] == kNoAxis || slots[4] == kNoAxis)
    store.fail(metadata.node, "has no axes y and x; export it again");
  return slots;
}

SampleType sample_type(const Store& store, const std::string& node, const zarr::DataType& type) {
  using zarr::Kind;
  if (type.kind == Kind::boolean) return SampleType::u8;
  const auto found = type.kind == Kind::real
                         ? real_type(8 * type.bytes)
                         : integer_type(type.kind == Kind::signed_integer, 8 * type.bytes);
  if (found) return *found;
  store.fail(node,
             fmt::format("has {} values; export it as 8-bit or 16-bit integer or 32-bit float", type.name));
}

Calibration calibrate(const ImageMetadata& metadata, const Slots& slots, std::vector<std::string>& notes) {
  Calibration found;
  found.source = "metadata (OME-Zarr)";
  const auto length = [&](std::size_t slot, std::optional<double>& size) {
    if (slots[slot] == kNoAxis) return;
    const std::size_t a = slots[slot];
    const auto factor = length_unit_um(metadata.units[a]);
    const double value = metadata.scale[a];
    if (factor && std::isfinite(value) && value > 0) size = value * *factor;
    if (!factor && value != 1)
      notes.push_back(fmt::format(
          "the metadata give a {} scale of {} {}: set input.voxel_um", kAxisLetters[slot], value,
          metadata.units[a].empty() ? "without unit" : "'" + metadata.units[a] + "', which is not a length"));
  };
  length(4, found.x_um);
  length(3, found.y_um);
  length(2, found.z_um);
  if (slots[0] != kNoAxis) {
    const std::size_t a = slots[0];
    const auto factor = time_unit_s(metadata.units[a]);
    const double value = metadata.scale[a];
    if (factor && std::isfinite(value) && value > 0) found.dt_s = value * *factor;
    if (!factor && value != 1)
      notes.push_back(
          fmt::format("the metadata give a time scale of {} without unit: set input.dt_s", value));
  }
  return found;
}

class ZarrFrames : public FrameSource {
 public:
  ZarrFrames(SeriesInfo info, Array array, Slots slots, SampleType stored)
      : info_(std::move(info)), array_(std::move(array)), slots_(slots), stored_(stored) {}
  const SeriesInfo& info() const override { return info_; }

  VolumeFrame read(std::int32_t t) override { return read_into_memory(*this, t); }

  void read_voxels(std::int32_t t, std::span<std::byte> out) override {
    check_frame_number(info_, t);
    if (is_voxel_type(stored_)) return read_planes(t, 0, info_.shape.nz, out);
    const std::int64_t planes = planes_at_once();
    std::vector<std::byte> samples;
    for (std::int64_t z = 0; z < info_.shape.nz; z += planes) {
      const std::int64_t count = std::min(planes, info_.shape.nz - z);
      const auto rows = static_cast<std::size_t>(count * info_.shape.ny);
      samples.resize(rows * static_cast<std::size_t>(row_bytes(stored_, info_.shape.nx)));
      read_planes(t, z, count, samples);
      const auto bytes = rows * static_cast<std::size_t>(info_.shape.nx * bytes_per_voxel(info_.type));
      const std::string why = convert_samples(stored_, info_.shape.nx, samples, out.first(bytes));
      if (!why.empty()) throw InputError(fmt::format("{}: frame {} {}", info_.path, t, why));
      out = out.subspan(bytes);
    }
  }

 private:
  /// As deep as a chunk, so that none is decoded twice.
  std::int64_t planes_at_once() const {
    if (slots_[2] == kNoAxis) return 1;
    const zarr::ArrayMetadata& m = array_.metadata();
    return std::max<std::int64_t>(1, (m.inner_chunk ? *m.inner_chunk : m.chunk)[slots_[2]]);
  }

  void read_planes(std::int32_t t, std::int64_t z, std::int64_t planes, std::span<std::byte> out) const {
    const std::size_t rank = array_.metadata().rank();
    std::vector<std::int64_t> start(rank, 0), count(rank, 1);
    if (slots_[0] != kNoAxis) start[slots_[0]] = t;
    if (slots_[1] != kNoAxis) start[slots_[1]] = info_.channel;
    if (slots_[2] != kNoAxis) start[slots_[2]] = z, count[slots_[2]] = planes;
    count[slots_[3]] = info_.shape.ny;
    count[slots_[4]] = info_.shape.nx;
    if (in_order()) {
      array_.read(start, count, out);
    } else {
      read_reordered(start, count, planes, out);
    }
  }

  bool in_order() const {
    const std::size_t z = slots_[2] == kNoAxis ? 0 : slots_[2];
    return (slots_[2] == kNoAxis || z < slots_[3]) && slots_[3] < slots_[4];
  }

  /// For axes that are not stored as z, y, x: reads plane by plane and transposes.
  void read_reordered(std::vector<std::int64_t> start, std::vector<std::int64_t> count, std::int64_t planes,
                      std::span<std::byte> out) const {
    const auto nz = static_cast<std::size_t>(planes), ny = static_cast<std::size_t>(info_.shape.ny),
               nx = static_cast<std::size_t>(info_.shape.nx),
               width = static_cast<std::size_t>(row_bytes(stored_, 1));
    std::vector<std::byte> plane(nx * ny * width);
    if (slots_[2] != kNoAxis) count[slots_[2]] = 1;
    for (std::size_t z = 0; z < nz; ++z) {
      if (slots_[2] != kNoAxis && z > 0) ++start[slots_[2]];
      array_.read(start, count, plane);
      const bool swapped = slots_[4] < slots_[3];
      for (std::size_t y = 0; y < ny; ++y) {
        for (std::size_t x = 0; x < nx; ++x) {
          const std::size_t from = swapped ? x * ny + y : y * nx + x;
          std::copy_n(plane.data() + from * width, width, out.data() + ((z * ny + y) * nx + x) * width);
        }
      }
    }
  }

  SeriesInfo info_;
  Array array_;
  Slots slots_;
  SampleType stored_;
};

}  // namespace

bool is_zarr_folder(const fs::path& folder) { return zarr::is_zarr(folder) && !is_geff(folder); }

std::unique_ptr<FrameSource> open_zarr_frames(const fs::path& folder, const FrameOptions& options,
                                              const Calibration& scale) {
  Store store(folder);
  const ImageMetadata metadata = read_metadata(store, options);
  Array array(store, metadata.node);
  const zarr::ArrayMetadata& shape = array.metadata();
  const Slots slots = find_slots(store, metadata, shape);
  const auto size = [&](std::size_t slot) { return slots[slot] == kNoAxis ? 1 : shape.shape[slots[slot]]; };
  SeriesInfo info;
  info.path = folder.string();
  info.format = metadata.version.empty() ? "Zarr" : "OME-Zarr " + metadata.version.substr(0, 20);
  info.notes = metadata.notes;
  if (size(0) > std::numeric_limits<std::int32_t>::max() || size(1) > 65535 || size(0) < 1 || size(1) < 1)
    store.fail(metadata.node, fmt::format("{} frames of {} channels are impossible: the metadata are damaged",
                                          size(0), size(1)));
  info.frames = static_cast<std::int32_t>(size(0));
  info.channels = static_cast<int>(size(1));
  info.shape = {size(2), size(3), size(4)};
  if (info.shape.nz < 1 || info.shape.ny < 1 || info.shape.nx < 1)
    store.fail(metadata.node, "has no voxels; export it again");
  const SampleType stored = sample_type(store, metadata.node, shape.type);
  info.type = voxel_type(stored);
  note_conversion(info, stored);
  for (const std::string& name : metadata.names)
    info.axes +=
        name.size() == 1 ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[0]))) : '?';
  frame_bytes(info.type, info.shape, folder);
  choose_channel(info, options);
  Calibration found = calibrate(metadata, slots, info.notes);
  if (!found.x_um && scale.x_um) {
    const std::optional<double> dt_s = found.dt_s;
    found = scale;
    found.dt_s = dt_s;
  }
  apply_calibration(info, found, options);
  return std::make_unique<ZarrFrames>(std::move(info), std::move(array), slots, stored);
}

}  // namespace motes::io::detail
