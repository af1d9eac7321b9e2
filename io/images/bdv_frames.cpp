/// The layout: group tNNNNN per time point, in it sNN per view setup, in it one group per resolution level,
/// of which 0 is the finest, holding the dataset `cells` [nz, ny, nx]. /sNN/resolutions [levels, 3] are the
/// levels' sampling steps (x, y, z). Java has no unsigned 16-bit type: BigDataViewer stores such voxels as
/// int16 and reads them back as unsigned, and so does this reader.

#include "io/images/bdv_frames.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/hdf5/hdf5_handle.h"
#include "io/images/bdv_xml.h"
#include "io/images/calibration.h"
#include "io/images/input_file.h"
#include "io/images/units.h"
#include "io/images/voxel_buffer.h"

namespace motes::io::detail {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";
constexpr std::size_t kXmlHead = 65536;  // SpimData's root may follow a licence text

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw InputError(fmt::format("{}: {}; export it again from BigDataViewer", path.string(), what));
}

h5::Handle open_file(const fs::path& path) {
  if (InputFile(path).head(kHdf5Signature.size()) != kHdf5Signature) fail(path, "is no HDF5 file");
  h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file)
    throw InputError(
        fmt::format("{}: the HDF5 file cannot be opened: it is truncated, damaged or locked ({}); copy or "
                    "export it again",
                    path.string(), h5::last_error()));
  return file;
}

/// The numbers N of the group's members called `letter`N, ascending.
std::vector<std::int64_t> numbered_members(const fs::path& path, hid_t group, char letter) {
  H5G_info_t info{};
  if (H5Gget_info(group, &info) < 0) fail(path, fmt::format("cannot list its groups: {}", h5::last_error()));
  std::vector<std::int64_t> numbers;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    std::array<char, 16> name{};
    const ssize_t length =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    if (length < 0) fail(path, fmt::format("cannot list its groups: {}", h5::last_error()));
    if (length < 2 || static_cast<std::size_t>(length) >= name.size() || name[0] != letter) continue;
    const auto number = parse_trimmed_integer(&name[1]);
    if (number && *number >= 0) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string cells_path(std::int64_t timepoint, std::int64_t setup) {
  return fmt::format("t{:05}/s{:02}/0/cells", timepoint, setup);
}

/// A dataset that was looked at, and how its voxels are read.
struct Cells {
  h5::Handle dataset;
  Shape3 shape;
  VoxelType type = VoxelType::u8;
  hid_t memory_type = -1;  // one of the library's constants: not owned
};

void read_type(const fs::path& path, const std::string& name, Cells& cells) {
  const h5::Handle type(H5Dget_type(cells.dataset.id()), H5Tclose);
  const std::size_t bytes = type ? H5Tget_size(type.id()) : 0;
  const H5T_class_t kind = type ? H5Tget_class(type.id()) : H5T_NO_CLASS;
  const bool is_signed = kind == H5T_INTEGER && H5Tget_sign(type.id()) == H5T_SGN_2;
  if (kind == H5T_INTEGER && bytes == 1 && !is_signed) {
    cells.type = VoxelType::u8;
    cells.memory_type = H5T_NATIVE_UINT8;
  } else if (kind == H5T_INTEGER && bytes == 2) {
    cells.type = VoxelType::u16;
    cells.memory_type = is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;  // the bits of an int16 are kept
  } else if (kind == H5T_FLOAT && bytes == 4) {
    cells.type = VoxelType::f32;
    cells.memory_type = H5T_NATIVE_FLOAT;
  } else {
    fail(path, fmt::format("{}: its voxels are no 8-bit, 16-bit or 32-bit float values", name));
  }
}

Cells open_cells(const fs::path& path, hid_t file, const std::string& name) {
  Cells cells;
  cells.dataset = h5::Handle(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!cells.dataset) fail(path, fmt::format("{}: cannot be opened: {}", name, h5::last_error()));
  const h5::Handle space(H5Dget_space(cells.dataset.id()), H5Sclose);
  std::array<hsize_t, 3> dims{};
  if (!space || H5Sget_simple_extent_ndims(space.id()) != 3 ||
      H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr) != 3)
    fail(path, fmt::format("{}: is no three-dimensional dataset", name));
  for (const hsize_t size : dims) {
    if (size == 0 || size > std::numeric_limits<std::int32_t>::max())
      fail(path, fmt::format("{}: a side of {} voxels", name, size));
  }
  cells.shape = {static_cast<std::int64_t>(dims[0]), static_cast<std::int64_t>(dims[1]),
                 static_cast<std::int64_t>(dims[2])};
  read_type(path, name, cells);
  frame_bytes(cells.type, cells.shape, path);
  return cells;
}

class BdvFrames : public FrameSource {
 public:
  BdvFrames(SeriesInfo info, h5::Handle file, std::vector<std::int64_t> timepoints, std::int64_t setup)
      : info_(std::move(info)), file_(std::move(file)), timepoints_(std::move(timepoints)), setup_(setup) {}

  const SeriesInfo& info() const override { return info_; }

  VolumeFrame read(std::int32_t t) override {
    check_frame_number(info_, t);
    h5::silence();
    const std::string name = cells_path(timepoints_[static_cast<std::size_t>(t)], setup_);
    const Cells cells = open_cells(info_.path, file_.id(), name);
    if (cells.shape != info_.shape || cells.type != info_.type) {
      fail(info_.path,
           fmt::format("{}: is {} x {} x {} of {}, unlike the first time point ({} x {} x {} of {})", name,
                       cells.shape.nz, cells.shape.ny, cells.shape.nx, to_string(cells.type), info_.shape.nz,
                       info_.shape.ny, info_.shape.nx, to_string(info_.type)));
    }
    VolumeFrame frame = empty_frame(info_, t);
    frame.voxels = make_voxels(info_.type, info_.shape, info_.path);
    if (H5Dread(cells.dataset.id(), cells.memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                bytes_of(frame.voxels).data()) < 0)
      fail(info_.path, fmt::format("{}: cannot be read: {}", name, h5::last_error()));
    return frame;
  }

 private:
  SeriesInfo info_;
  h5::Handle file_;
  std::vector<std::int64_t> timepoints_;
  std::int64_t setup_;
};

/// The time points that the XML states, else all from the first to the last there is; every one must be
/// there.
std::vector<std::int64_t> check_timepoints(const fs::path& path, const std::vector<std::int64_t>& present,
                                           std::vector<std::int64_t> stated) {
  if (stated.empty()) {
    if (present.empty()) fail(path, "holds no time point (no group t00000 ...)");
    if (present.back() - present.front() > static_cast<std::int64_t>(4 * present.size()))
      fail(path, fmt::format("time points {} to {}, of which only {} are there", present.front(),
                             present.back(), present.size()));
    for (std::int64_t t = present.front(); t <= present.back(); ++t) stated.push_back(t);
  }
  for (const std::int64_t t : stated) {
    if (!std::binary_search(present.begin(), present.end(), t))
      fail(path, fmt::format("time point {} (group t{:05}) is missing; {} are there", t, t, present.size()));
  }
  return stated;
}

/// Sampling step of level 0 (x, y, z); 1 where not stated.
Vec3 level_steps(hid_t file, std::int64_t setup) {
  const h5::Handle dataset(H5Dopen2(file, fmt::format("s{:02}/resolutions", setup).c_str(), H5P_DEFAULT),
                           H5Dclose);
  const h5::Handle space(dataset ? H5Dget_space(dataset.id()) : -1, H5Sclose);
  std::array<hsize_t, 2> dims{};
  if (!space || H5Sget_simple_extent_ndims(space.id()) != 2 ||
      H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr) != 2 || dims[0] < 1 || dims[0] > 64 ||
      dims[1] != 3)
    return {1, 1, 1};
  std::vector<double> steps(dims[0] * dims[1], 1.0);
  if (H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, steps.data()) < 0)
    return {1, 1, 1};
  const bool sane =
      std::all_of(steps.begin(), steps.begin() + 3, [](double s) { return s >= 1 && s <= 1024; });
  return sane ? Vec3{steps[0], steps[1], steps[2]} : Vec3{1, 1, 1};
}

/// The root's attribute frame_interval_s, which BdvWriter leaves; the layout itself has no place for it.
std::optional<double> frame_interval_s(hid_t file) {
  if (H5Aexists(file, "frame_interval_s") <= 0) return std::nullopt;
  const h5::Handle attribute(H5Aopen(file, "frame_interval_s", H5P_DEFAULT), H5Aclose);
  const h5::Handle space(attribute ? H5Aget_space(attribute.id()) : -1, H5Sclose);
  double value = 0;
  if (!space || H5Sget_simple_extent_npoints(space.id()) != 1 ||
      H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &value) < 0 || !(value > 0 && std::isfinite(value)))
    return std::nullopt;
  return value;
}

Calibration calibrate(const BdvSetup& setup, const Vec3& steps, std::vector<std::string>& notes) {
  Calibration found;
  found.source = "metadata (BigDataViewer XML)";
  const Vec3& size = setup.voxel_size;
  if (size.x <= 0) return found;
  const auto factor = length_unit_um(setup.unit);
  if (!factor) {
    notes.push_back(
        fmt::format("the XML gives voxels of {} x {} x {} (x, y, z) in '{}', which is no length: set "
                    "input.voxel_um",
                    size.x, size.y, size.z, setup.unit));
    return found;
  }
  found.x_um = size.x * *factor * steps.x;
  found.y_um = size.y * *factor * steps.y;
  found.z_um = size.z * *factor * steps.z;
  return found;
}

void note_views(const BdvXml& xml, std::vector<std::string>& notes) {
  for (const auto& [id, setup] : xml.setups) {
    if (setup.view_kind == xml.setups.begin()->second.view_kind) continue;
    notes.push_back(
        "the view setups differ in angle, illumination or tile: they are read one by one, unregistered, "
        "as input.channel");
    return;
  }
}

/// The XML of an .h5, if it lies beside it under the same name.
BdvXml xml_beside(const fs::path& images, std::vector<std::string>& notes) {
  fs::path beside = images;
  beside.replace_extension(".xml");
  std::error_code ignored;
  if (fs::is_regular_file(beside, ignored) && is_bdv_xml_head(InputFile(beside).head(kXmlHead)))
    return read_bdv_xml(beside);
  notes.push_back(fmt::format("no {} beside the images: voxel size unknown", beside.filename().string()));
  return {};
}

bool holds_timepoint(const fs::path& path) {
  h5::silence();
  const h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  return file && !numbered_members(path, file.id(), 't').empty();
}

}  // namespace

bool is_bdv(const fs::path& path) {
  const std::string head = InputFile(path).head(kXmlHead);
  if (head.starts_with(kHdf5Signature)) return holds_timepoint(path);
  return is_bdv_xml_head(head);
}

void refuse_damaged_hdf5(const fs::path& path) {
  h5::silence();
  if (InputFile(path).head(kHdf5Signature.size()) == kHdf5Signature) open_file(path);
}

std::unique_ptr<FrameSource> open_bdv_frames(const fs::path& path, const FrameOptions& options) {
  if (options.axes) throw UsageError("input.axes: the axes of BigDataViewer files are fixed; remove the key");
  h5::silence();
  SeriesInfo info;
  const bool given_images = InputFile(path).head(kHdf5Signature.size()) == kHdf5Signature;
  const BdvXml xml = given_images ? xml_beside(path, info.notes) : read_bdv_xml(path);
  const fs::path images = given_images ? path : xml.images;
  info.path = images.string();
  info.format = "BDV HDF5";

  h5::Handle file = open_file(images);
  const auto timepoints = check_timepoints(images, numbered_members(images, file.id(), 't'), xml.timepoints);
  const h5::Handle first(H5Gopen2(file.id(), fmt::format("t{:05}", timepoints[0]).c_str(), H5P_DEFAULT),
                         H5Gclose);
  if (!first) fail(images, fmt::format("t{:05}: cannot be opened: {}", timepoints[0], h5::last_error()));
  const auto setups = numbered_members(images, first.id(), 's');
  if (setups.empty())
    fail(images, fmt::format("t{:05} holds no view setup (no group s00 ...)", timepoints[0]));

  info.frames = static_cast<std::int32_t>(timepoints.size());
  info.channels = static_cast<int>(setups.size());
  choose_channel(info, options);
  note_views(xml, info.notes);
  if (timepoints.front() != 0)
    info.notes.push_back(fmt::format("time points {} to {} are frames 0 to {}", timepoints.front(),
                                     timepoints.back(), info.frames - 1));
  const std::int64_t setup = setups[static_cast<std::size_t>(info.channel)];
  const Cells cells = open_cells(images, file.id(), cells_path(timepoints[0], setup));
  info.axes = std::string(info.frames > 1 ? "T" : "") + (info.channels > 1 ? "C" : "") + "ZYX";
  info.shape = cells.shape;
  info.type = cells.type;
  const auto described = xml.setups.find(setup);
  Calibration metadata = calibrate(described == xml.setups.end() ? BdvSetup{} : described->second,
                                   level_steps(file.id(), setup), info.notes);
  metadata.dt_s = frame_interval_s(file.id());
  apply_calibration(info, metadata, options);
  return std::make_unique<BdvFrames>(std::move(info), std::move(file), timepoints, setup);
}

}  // namespace motes::io::detail
