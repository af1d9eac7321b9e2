/// The layout: /DataSet/ResolutionLevel L/TimePoint T/Channel C/Data [nz, ny, nx]; level 0 is the finest.
/// Data are padded to whole blocks; the true size is in the channel's ImageSizeX, Y, Z. The extent of the
/// whole image (ExtMin0 ... ExtMax2, for x, y, z) and its unit are attributes of /DataSetInfo/Image, time
/// stamps (TimePoint1 ...) of /DataSetInfo/TimeInfo. All attributes are text with one character per element.

#include "io/images/chunked/imaris_frames.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/hdf5/reader.h"
#include "io/images/calibration.h"
#include "io/images/chunked/h5_volume.h"
#include "io/images/frame_interval.h"
#include "io/images/input_file.h"
#include "io/images/units.h"
#include "io/images/voxel_buffer.h"

namespace motes::io::detail {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kImarisStart = "\x89HDF\r\n\x1a\n";
constexpr const char* kFinest = "/DataSet/ResolutionLevel 0";
constexpr const char* kImage = "/DataSetInfo/Image";
constexpr const char* kTimeInfo = "/DataSetInfo/TimeInfo";
/// Time stamps are rounded to milliseconds, so equal intervals may differ by one.
constexpr double kStampError_s = 0.002;

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw InputError(fmt::format("{}: {}; save it again from Imaris", path.string(), what));
}

std::string channel_path(std::int32_t t, int channel) {
  return fmt::format("{}/TimePoint {}/Channel {}", kFinest, t, channel);
}

/// The number of members named `stem` and a number; throws unless these are 0, 1, 2 ...
int count_members(const fs::path& path, const h5::Reader& file, const std::string& group,
                  const std::string& stem) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : file.names(group)) {
    if (!name.starts_with(stem) || name.size() > stem.size() + 10) continue;
    if (const auto number = parse_integer(std::string_view(name).substr(stem.size())); number && *number >= 0)
      numbers.push_back(*number);
  }
  if (numbers.empty()) fail(path, fmt::format("{} has no {}0", group, stem));
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (numbers[k] != static_cast<std::int64_t>(k))
      fail(path, fmt::format("{} has no {}{}, but {}{}", group, stem, k, stem, numbers.back()));
  return static_cast<int>(numbers.size());
}

/// A text attribute as a number; none if it is missing.
std::optional<double> number_in(const fs::path& path, const h5::Reader& file, const std::string& object,
                                const std::string& name) {
  if (!file.has(object)) return std::nullopt;
  const auto text = file.text_attribute(name, object);
  if (!text) return std::nullopt;
  const auto number = parse_trimmed_number(*text);
  if (!number || !std::isfinite(*number)) fail(path, fmt::format("{}: {} is not a number", object, name));
  return number;
}

/// A dataset, and the part of it that is image.
struct Volume {
  H5Volume data;
  Shape3 shape;
};

/// The image's sizes: those of the channel, else of the file, else the stored ones.
Shape3 image_size(const fs::path& path, const h5::Reader& file, const std::string& channel,
                  const Shape3& stored) {
  const std::array<std::int64_t, 3> all{stored.nx, stored.ny, stored.nz};
  std::array<std::int64_t, 3> out{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const char letter = "XYZ"[axis];
    auto size = number_in(path, file, channel, std::string("ImageSize") + letter);
    if (!size) size = number_in(path, file, kImage, std::string(1, letter));
    const double value = size.value_or(static_cast<double>(all[axis]));
    if (!(value >= 1) || value > static_cast<double>(all[axis]) || value != std::floor(value))
      fail(path, fmt::format("{}: {} voxels along {} are stated, {} are stored", channel, value, letter,
                             all[axis]));
    out[axis] = static_cast<std::int64_t>(value);
  }
  return {out[2], out[1], out[0]};
}

Volume open_volume(const fs::path& path, const h5::Reader& file, std::int32_t t, int channel) {
  const std::string group = channel_path(t, channel);
  const H5Volume data = open_h5_volume(path, file, group + "/Data");
  return {data, image_size(path, file, group, data.stored)};
}

class ImarisFrames : public FrameSource {
 public:
  ImarisFrames(SeriesInfo info, h5::Reader file) : info_(std::move(info)), file_(std::move(file)) {}

  const SeriesInfo& info() const override { return info_; }

  VolumeFrame read(std::int32_t t) override { return read_into_memory(*this, t); }

  void read_voxels(std::int32_t t, std::span<std::byte> out) override {
    check_frame_number(info_, t);
    const Volume volume = open_volume(info_.path, file_, t, info_.channel);
    check_like_first(info_, volume.data, volume.shape);
    read_h5_volume(info_.path, file_, volume.data, volume.shape, out);
  }

 private:
  SeriesInfo info_;
  h5::Reader file_;
};

/// Rounded to 12 digits, as the file's few digits suggest: 3.8 / 19 is 0.2.
double rounded(double value) { return parse_double(fmt::format("{:.12g}", value)).value_or(value); }

/// The voxel size: the extent divided by the image's size, if both and the unit are stated.
void find_voxel_size(const h5::Reader& file, SeriesInfo& info, Calibration& found) {
  if (!file.has(kImage)) return;
  const auto unit = file.text_attribute("Unit", kImage);
  const std::array<std::int64_t, 3> size{info.shape.nx, info.shape.ny, info.shape.nz};
  const std::array<std::optional<double>*, 3> out{&found.x_um, &found.y_um, &found.z_um};
  const auto factor = unit ? length_unit_um(*unit) : std::nullopt;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto low = number_in(info.path, file, kImage, fmt::format("ExtMin{}", axis));
    const auto high = number_in(info.path, file, kImage, fmt::format("ExtMax{}", axis));
    if (!low || !high) continue;
    const double step = (*high - *low) / static_cast<double>(size[axis]);
    if (!factor) {
      info.notes.push_back(fmt::format("the file gives an extent, but {}: set input.voxel_um",
                                       unit ? "its unit '" + *unit + "' is not a length" : "no unit"));
      return;
    }
    if (step > 0) *out[axis] = rounded(step * *factor);
  }
}

/// Seconds since 1970 of "2009-01-31 23:59:59.999", as Imaris writes them.
std::optional<double> seconds_of(std::string_view text) {
  text = trimmed(text);
  constexpr std::string_view kForm = "dddd-dd-dd dd:dd:dd";
  if (text.size() < kForm.size() || text.size() > kForm.size() + 10) return std::nullopt;
  for (std::size_t k = 0; k < kForm.size(); ++k)
    if (kForm[k] == 'd' ? text[k] < '0' || text[k] > '9' : text[k] != kForm[k]) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t length) {
    return static_cast<int>(parse_integer(text.substr(at, length)).value_or(0));
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  const auto seconds = parse_double(text.substr(17));
  if (!date.ok() || !seconds) return std::nullopt;
  const auto days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  return (days * 24.0 + number(11, 2)) * 3600 + number(14, 2) * 60 + *seconds;
}

/// The mean step of the time stamps, with a note if they are not regular.
std::optional<double> find_interval(const h5::Reader& file, SeriesInfo& info) {
  if (info.frames < 2 || !file.has(kTimeInfo)) return std::nullopt;
  std::vector<double> times;
  for (std::int32_t t = 0; t < info.frames; ++t) {
    const auto text = file.text_attribute(fmt::format("TimePoint{}", t + 1), kTimeInfo);
    const auto seconds = text ? seconds_of(*text) : std::nullopt;
    if (!seconds) {
      info.notes.push_back(fmt::format("time point {} has no time stamp that can be read", t + 1));
      return std::nullopt;
    }
    times.push_back(*seconds - (times.empty() ? 0 : times.front()));
  }
  times.front() = 0;
  const double step = rounded(times.back() / (info.frames - 1));
  double off = 0;
  for (std::size_t t = 0; t < times.size(); ++t)
    off = std::max(off, std::abs(times[t] - step * static_cast<double>(t)));
  if (step > 0 && off <= std::min(kStampError_s, step / 2)) return step;
  std::vector<std::int32_t> frame(times.size());
  std::iota(frame.begin(), frame.end(), 0);
  const auto mean = mean_interval(frame, times);
  info.notes.push_back(
      mean && *mean > 0
          ? fmt::format("the time stamps are not regular: their mean interval, {:.6g} s, is used", *mean)
          : "the time stamps do not rise regularly: set input.dt_s");
  return mean && *mean > 0 ? mean : std::nullopt;
}

/// Throws if the file states more time points than it has: it was truncated, or is one of several.
void check_frames(const h5::Reader& file, const SeriesInfo& info) {
  const auto stated = number_in(info.path, file, kTimeInfo, "DatasetTimePoints");
  if (stated && *stated > info.frames)
    fail(info.path, fmt::format("states {} time points, but has {}", *stated, info.frames));
}

}  // namespace

bool is_imaris(const fs::path& path) {
  if (InputFile(path).head(kImarisStart.size()) != kImarisStart) return false;
  try {
    return h5::holds(path, {kFinest, "/DataSetInfo"});
  } catch (const InputError&) {
    return false;
  }
}

std::unique_ptr<FrameSource> open_imaris_frames(const fs::path& path, const FrameOptions& options) {
  if (options.axes) throw UsageError("input.axes: the axes of Imaris files are fixed; remove the key");
  SeriesInfo info;
  info.path = path.string();
  info.format = "Imaris";
  h5::Reader file(path);
  info.frames = count_members(path, file, kFinest, "TimePoint ");
  info.channels = count_members(path, file, fmt::format("{}/TimePoint 0", kFinest), "Channel ");
  check_frames(file, info);
  choose_channel(info, options);
  const Volume first = open_volume(path, file, 0, info.channel);
  info.shape = first.shape;
  info.type = first.data.type();
  note_conversion(info, first.data.sample);
  info.axes = std::string(info.frames > 1 ? "T" : "") + (info.channels > 1 ? "C" : "") + "ZYX";
  Calibration metadata;
  metadata.source = "metadata (Imaris)";
  find_voxel_size(file, info, metadata);
  metadata.dt_s = find_interval(file, info);
  apply_calibration(info, metadata, options);
  return std::make_unique<ImarisFrames>(std::move(info), std::move(file));
}

}  // namespace motes::io::detail
