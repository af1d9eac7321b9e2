/// The layout: group tNNNNN per time point, in it sNN per view setup, in it one group per resolution level,
/// of which 0 is the finest, holding the dataset `cells` [nz, ny, nx]. /sNN/resolutions [levels, 3] are the
/// levels' sampling steps (x, y, z). Java has no unsigned 16-bit type: BigDataViewer stores such voxels as
/// int16 and reads them back as unsigned, and so does this reader.

#include "io/images/chunked/bdv_frames.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/hdf5/reader.h"
#include "io/images/calibration.h"
#include "io/images/chunked/bdv_xml.h"
#include "io/images/chunked/h5_volume.h"
#include "io/images/input_file.h"
#include "io/images/units.h"
#include "io/images/voxel_buffer.h"

namespace motes::io::detail {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";
constexpr std::size_t kXmlHead = 65536;  // the SpimData root may follow a licence text

h5::Reader open_file(const fs::path& path) {
  if (InputFile(path).head(kHdf5Signature.size()) != kHdf5Signature) fail_bdv(path, "is not an HDF5 file");
  return h5::Reader(path);
}

/// The numbers N of the group's members named `letter`N, ascending.
std::vector<std::int64_t> numbered_members(const h5::Reader& file, const std::string& group, char letter) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : file.names(group)) {
    if (name.size() < 2 || name.size() > 15 || name[0] != letter) continue;
    const auto number = parse_trimmed_integer(name.substr(1));
    if (number && *number >= 0) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string cells_path(std::int64_t timepoint, std::int64_t setup) {
  return fmt::format("t{:05}/s{:02}/0/cells", timepoint, setup);
}

/// The dataset of a time point; BigDataViewer stores unsigned 16-bit values as signed ones.
H5Volume open_cells(const fs::path& path, const h5::Reader& file, const std::string& name) {
  H5Volume cells = open_h5_volume(path, file, name);
  if (cells.number == h5::Number::i16) cells.sample = SampleType::u16;  // the bits are kept
  return cells;
}

class BdvFrames : public FrameSource {
 public:
  BdvFrames(SeriesInfo info, h5::Reader file, std::vector<std::int64_t> timepoints, std::int64_t setup)
      : info_(std::move(info)), file_(std::move(file)), timepoints_(std::move(timepoints)), setup_(setup) {}

  const SeriesInfo& info() const override { return info_; }

  VolumeFrame read(std::int32_t t) override { return read_into_memory(*this, t); }

  void read_voxels(std::int32_t t, std::span<std::byte> out) override {
    check_frame_number(info_, t);
    const std::string name = cells_path(timepoints_[static_cast<std::size_t>(t)], setup_);
    const H5Volume cells = open_cells(info_.path, file_, name);
    check_like_first(info_, cells, cells.stored);
    read_h5_volume(info_.path, file_, cells, cells.stored, out);
  }

 private:
  SeriesInfo info_;
  h5::Reader file_;
  std::vector<std::int64_t> timepoints_;
  std::int64_t setup_;
};

/// The time points that the XML states, else all from the first to the last one in the file; all must exist.
std::vector<std::int64_t> check_timepoints(const fs::path& path, const std::vector<std::int64_t>& present,
                                           std::vector<std::int64_t> stated) {
  if (stated.empty()) {
    if (present.empty()) fail_bdv(path, "holds no time point (no group t00000 ...)");
    if (present.back() - present.front() > static_cast<std::int64_t>(4 * present.size()))
      fail_bdv(path, fmt::format("time points {} to {}, but only {} exist", present.front(), present.back(),
                                 present.size()));
    for (std::int64_t t = present.front(); t <= present.back(); ++t) stated.push_back(t);
  }
  for (const std::int64_t t : stated) {
    if (!std::binary_search(present.begin(), present.end(), t))
      fail_bdv(path, fmt::format("time point {} (group t{:05}) is missing; {} exist", t, t, present.size()));
  }
  return stated;
}

/// Sampling step of level 0 (x, y, z); 1 if not stated.
Vec3 level_steps(const h5::Reader& file, std::int64_t setup) {
  const std::string name = fmt::format("s{:02}/resolutions", setup);
  const auto info = file.dataset(name);
  if (!info || info->shape.size() != 2 || info->shape[0] < 1 || info->shape[0] > 64 || info->shape[1] != 3)
    return {1, 1, 1};
  const std::vector<double> steps = file.table(name, 3);
  const bool sane =
      std::all_of(steps.begin(), steps.begin() + 3, [](double s) { return s >= 1 && s <= 1024; });
  return sane ? Vec3{steps[0], steps[1], steps[2]} : Vec3{1, 1, 1};
}

/// The root's attribute frame_interval_s, which BdvWriter adds; the format itself has no place for it.
std::optional<double> frame_interval_s(const h5::Reader& file) {
  const auto value = file.number_attribute("frame_interval_s");
  return value && *value > 0 && std::isfinite(*value) ? value : std::nullopt;
}

Calibration calibrate(const BdvSetup& setup, const Vec3& steps, std::vector<std::string>& notes) {
  Calibration found;
  found.source = "metadata (BigDataViewer XML)";
  const Vec3& size = setup.voxel_size;
  if (size.x <= 0) return found;
  const auto factor = length_unit_um(setup.unit);
  if (!factor) {
    notes.push_back(
        fmt::format("the XML gives voxels of {} x {} x {} (x, y, z) in '{}', which is not a length: set "
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

/// The XML of an .h5, if it is beside it with the same name.
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
  try {
    return !numbered_members(h5::Reader(path), "/", 't').empty();
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

bool is_bdv(const fs::path& path) {
  const std::string head = InputFile(path).head(kXmlHead);
  if (head.starts_with(kHdf5Signature)) return holds_timepoint(path);
  return is_bdv_xml_head(head);
}

void refuse_damaged_hdf5(const fs::path& path) {
  if (InputFile(path).head(kHdf5Signature.size()) == kHdf5Signature) open_file(path);
}

std::unique_ptr<FrameSource> open_bdv_frames(const fs::path& path, const FrameOptions& options) {
  if (options.axes) throw UsageError("input.axes: the axes of BigDataViewer files are fixed; remove the key");
  SeriesInfo info;
  const bool given_images = InputFile(path).head(kHdf5Signature.size()) == kHdf5Signature;
  const BdvXml xml = given_images ? xml_beside(path, info.notes) : read_bdv_xml(path);
  const fs::path images = given_images ? path : xml.images;
  info.path = images.string();
  info.format = "BDV HDF5";

  h5::Reader file = open_file(images);
  const auto timepoints = check_timepoints(images, numbered_members(file, "/", 't'), xml.timepoints);
  const std::string first = fmt::format("t{:05}", timepoints[0]);
  const auto setups = numbered_members(file, first, 's');
  if (setups.empty())
    fail_bdv(images, fmt::format("t{:05} holds no view setup (no group s00 ...)", timepoints[0]));

  info.frames = static_cast<std::int32_t>(timepoints.size());
  info.channels = static_cast<int>(setups.size());
  choose_channel(info, options);
  note_views(xml, info.notes);
  if (timepoints.front() != 0)
    info.notes.push_back(fmt::format("time points {} to {} are frames 0 to {}", timepoints.front(),
                                     timepoints.back(), info.frames - 1));
  const std::int64_t setup = setups[static_cast<std::size_t>(info.channel)];
  const H5Volume cells = open_cells(images, file, cells_path(timepoints[0], setup));
  info.axes = std::string(info.frames > 1 ? "T" : "") + (info.channels > 1 ? "C" : "") + "ZYX";
  info.shape = cells.stored;
  info.type = cells.type();
  note_conversion(info, cells.sample);
  const auto described = xml.setups.find(setup);
  Calibration metadata = calibrate(described == xml.setups.end() ? BdvSetup{} : described->second,
                                   level_steps(file, setup), info.notes);
  metadata.dt_s = frame_interval_s(file);
  apply_calibration(info, metadata, options);
  return std::make_unique<BdvFrames>(std::move(info), std::move(file), timepoints, setup);
}

}  // namespace motes::io::detail
