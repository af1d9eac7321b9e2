/// A dataset is a folder with attributes.json (dimensions, blockSize: x first; dataType; compression) and one
/// file per block, named by its place in the grid: x/y/z. A block has a big-endian header: mode, number of
/// axes (16 bits each), its size along each axis (32 bits each; blocks at the edge are cut); then come the
/// compressed values, big-endian, x fastest.

#include "io/images/chunked/n5_frames.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/base/system/memory.h>

#include "io/files/checked.h"
#include "io/images/calibration.h"
#include "io/images/chunked/bdv_xml.h"
#include "io/images/sample_type.h"
#include "io/images/units.h"
#include "io/images/voxel_buffer.h"
#include "io/zarr/codecs.h"

namespace motes::io::detail {
namespace {

namespace fs = std::filesystem;
using zarr::Json;
using zarr::Store;
using Axes = std::array<std::int64_t, 3>;  // x, y, z

constexpr std::int64_t kLongest = std::int64_t{1} << 31;
constexpr std::size_t kHeader = 16;              // bytes, for three axes
constexpr std::int64_t kMostBlocks = 4'000'000;  // per frame; each is a file

struct Dataset {
  Axes size{}, block{};
  SampleType sample = SampleType::u8;
  VoxelType type() const { return voxel_type(sample); }
  zarr::Compression compression = zarr::Compression::none;
};

Axes axes_of(const Store& store, const std::string& key, const Json& json, const char* name) {
  const Json list = json.value(name, Json());
  Axes axes{};
  if (!list.is_array() || list.size() != 3)
    store.fail(key, fmt::format("'{}' is not a list of three sizes; export it again", name));
  for (std::size_t a = 0; a < 3; ++a) {
    if (!list[a].is_number_integer() || list[a].get<double>() < 1 ||
        list[a].get<double>() > static_cast<double>(kLongest))
      store.fail(key, fmt::format("'{}' has a value that is not a size; export it again", name));
    axes[a] = list[a].get<std::int64_t>();
  }
  return axes;
}

zarr::Compression compression_of(const Store& store, const std::string& key, const Json& json) {
  Json about = json.value("compression", json.value("compressionType", Json("raw")));
  const std::string name = about.is_string() ? about.get<std::string>()
                           : about.is_object() && about.value("type", Json()).is_string()
                               ? about["type"].get<std::string>()
                               : "?";
  if (name == "raw") return zarr::Compression::none;
  if (name == "gzip") return zarr::Compression::gzip;
  if (name == "blosc") return zarr::Compression::blosc;
  if (name == "zstd") return zarr::Compression::zstd;
  store.fail(key, fmt::format("unsupported compression '{}'; write the data with blosc, zstd, gzip or raw",
                              name.substr(0, 40)));
}

/// "uint16", "int32", "float64" ...
SampleType sample_named(const Store& store, const std::string& key, const Json& type) {
  std::string_view text;
  if (type.is_string()) text = type.get_ref<const std::string&>();
  const std::size_t digit = std::min(text.find_first_of("0123456789"), text.size());
  const std::string_view kind = text.substr(0, digit);
  const auto bits = static_cast<int>(parse_integer(text.substr(digit)).value_or(0));
  std::optional<SampleType> found;
  if (kind == "float") found = real_type(bits);
  if (kind == "int" || kind == "uint") found = integer_type(kind == "int", bits);
  if (!found || found == SampleType::bit || found == SampleType::f16)
    store.fail(key, "its 'dataType' is not one of integers or floating-point numbers; export it again");
  return *found;
}

Dataset read_dataset(const Store& store, const std::string& node) {
  const std::string key = zarr::join(node, "attributes.json");
  const auto json = store.json(key);
  if (!json) store.fail(key, "is missing; export the data again");
  Dataset dataset;
  dataset.size = axes_of(store, key, *json, "dimensions");
  dataset.block = axes_of(store, key, *json, "blockSize");
  dataset.sample = sample_named(store, key, json->value("dataType", Json()));
  std::array<std::int64_t, 3> blocks{};
  for (std::size_t a = 0; a < 3; ++a) blocks[a] = (dataset.size[a] + dataset.block[a] - 1) / dataset.block[a];
  if (const auto total = checked_product({blocks[0], blocks[1], blocks[2]}); !total || *total > kMostBlocks)
    store.fail(key, "one frame has more than 4 million blocks; write the data with larger blocks");
  dataset.compression = compression_of(store, key, *json);
  return dataset;
}

std::int64_t big_endian(std::span<const std::byte> bytes) {
  std::int64_t value = 0;
  for (const std::byte byte : bytes) value = (value << 8) | static_cast<std::int64_t>(byte);
  return value;
}

/// Numbers N of the folders PREFIXN below `node`, ascending.
std::vector<std::int64_t> numbered_folders(const fs::path& folder, const std::string& prefix) {
  std::vector<std::int64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with(prefix) || !entry->is_directory(ignored)) continue;
    const auto number = parse_trimmed_integer(name.substr(prefix.size()));
    if (number && *number >= 0) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

class N5Frames : public FrameSource {
 public:
  N5Frames(SeriesInfo info, Store store, std::vector<std::int64_t> timepoints, std::int64_t setup,
           Dataset first)
      : info_(std::move(info)),
        store_(std::move(store)),
        timepoints_(std::move(timepoints)),
        setup_(setup),
        first_(first) {}
  const SeriesInfo& info() const override { return info_; }

  VolumeFrame read(std::int32_t t) override { return read_into_memory(*this, t); }

  void read_voxels(std::int32_t t, std::span<std::byte> out) override {
    check_frame_number(info_, t);
    const std::string node =
        fmt::format("setup{}/timepoint{}/s0", setup_, timepoints_[static_cast<std::size_t>(t)]);
    const Dataset dataset = read_dataset(store_, node);
    if (dataset.size != first_.size || dataset.type() != first_.type())
      store_.fail(node, "is unlike the first time point; export it again");
    for (std::int64_t k = 0; k * dataset.block[2] < dataset.size[2]; ++k)
      for (std::int64_t j = 0; j * dataset.block[1] < dataset.size[1]; ++j)
        for (std::int64_t i = 0; i * dataset.block[0] < dataset.size[0]; ++i)
          add_block(node, dataset, {i, j, k}, out);
  }

 private:
  /// Adds a block; missing blocks are zero.
  void add_block(const std::string& node, const Dataset& dataset, const Axes& grid,
                 std::span<std::byte> out) {
    const std::string key = fmt::format("{}/{}/{}/{}", node, grid[0], grid[1], grid[2]);
    const std::unique_ptr<InputFile> file = store_.open(key);
    if (!file) return;
    std::array<std::byte, kHeader> header{};
    if (!file->read_at(0, header) || big_endian(std::span(header).first(2)) != 0 ||
        big_endian(std::span(header).subspan(2, 2)) != 3)
      store_.fail(key, "is not an N5 block of three axes; export the data again");
    std::int64_t width = row_bytes(dataset.sample, 1);
    Axes start{}, count{};
    std::int64_t bytes = width;
    for (std::size_t a = 0; a < 3; ++a) {
      count[a] = big_endian(std::span(header).subspan(4 + 4 * a, 4));
      start[a] = grid[a] * dataset.block[a];
      if (count[a] < 1 || count[a] > dataset.block[a])
        store_.fail(key, "its block is larger than the others; export the data again");
      bytes = checked_product({bytes, count[a]}).value_or(std::numeric_limits<std::int64_t>::max());
    }
    const std::int64_t most = system::physical_memory() / 2;
    if (bytes > most || file->size() - kHeader > 2 * static_cast<std::uint64_t>(bytes) + (1 << 20))
      store_.fail(key, "its size is impossible; export the data again");
    stored_.resize(static_cast<std::size_t>(file->size()) - kHeader);
    zarr::ChunkCoding coding;
    coding.compression = dataset.compression;
    std::string fault = file->read_at(kHeader, stored_) ? "" : "cannot be read";
    if (fault.empty()) fault = zarr::decode_chunk(coding, stored_, plain_, static_cast<std::size_t>(bytes));
    if (!fault.empty()) store_.fail(key, fault + "; copy or export the data again");
    zarr::swap_bytes(plain_, static_cast<int>(width));
    if (!is_voxel_type(dataset.sample)) {
      const auto block = static_cast<std::size_t>(bytes / width);
      width = bytes_per_voxel(dataset.type());
      voxels_.resize(block * static_cast<std::size_t>(width));
      const std::string why = convert_samples(dataset.sample, count[0], plain_, voxels_);
      if (!why.empty()) throw InputError(fmt::format("{}/{} {}", info_.path, key, why));
      plain_.swap(voxels_);
    }
    const std::int64_t nx = std::min(count[0], dataset.size[0] - start[0]);
    for (std::int64_t z = 0; z < std::min(count[2], dataset.size[2] - start[2]); ++z)
      for (std::int64_t y = 0; y < std::min(count[1], dataset.size[1] - start[1]); ++y)
        std::copy_n(
            plain_.data() + (z * count[1] + y) * count[0] * width, nx * width,
            out.data() +
                (((start[2] + z) * dataset.size[1] + start[1] + y) * dataset.size[0] + start[0]) * width);
  }

  SeriesInfo info_;
  Store store_;
  std::vector<std::int64_t> timepoints_;
  std::int64_t setup_;
  Dataset first_;
  std::vector<std::byte> stored_, plain_, voxels_;
};

/// Sampling steps of s0 relative to the full image, x, y, z; 1 if not stated.
Vec3 level_steps(const Store& store, std::int64_t setup) {
  const auto json = store.json(fmt::format("setup{}/attributes.json", setup));
  const Json factors = json ? json->value("downsamplingFactors", Json()) : Json();
  if (!factors.is_array() || factors.empty() || !factors[0].is_array() || factors[0].size() != 3)
    return {1, 1, 1};
  for (const Json& step : factors[0])
    if (!step.is_number() || !(step.get<double>() >= 1 && step.get<double>() <= 1024)) return {1, 1, 1};
  return {factors[0][0].get<double>(), factors[0][1].get<double>(), factors[0][2].get<double>()};
}

}  // namespace

bool is_bdv_n5(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "attributes.json", ignored) &&
         !numbered_folders(folder, "setup").empty();
}

std::unique_ptr<FrameSource> open_n5_frames(const fs::path& path, const FrameOptions& options) {
  if (options.axes) throw UsageError("input.axes: the axes of BigDataViewer files are fixed; remove the key");
  std::error_code ignored;
  const bool given_xml = fs::is_regular_file(path, ignored);
  fs::path beside = path;
  beside.replace_extension(".xml");
  const bool has_xml = given_xml || fs::is_regular_file(beside, ignored);
  const BdvXml xml = has_xml ? read_bdv_xml(given_xml ? path : beside) : BdvXml{};
  const fs::path folder = given_xml ? xml.images : path;
  Store store(folder);
  SeriesInfo info;
  info.path = folder.string();
  info.format = "BDV N5";
  const auto setups = numbered_folders(folder, "setup");
  if (setups.empty()) store.fail("", "has no view setup (no folder setup0 ...); export it again");
  info.channels = static_cast<int>(setups.size());
  choose_channel(info, options);
  const std::int64_t setup = setups[static_cast<std::size_t>(info.channel)];
  std::vector<std::int64_t> timepoints = xml.timepoints;
  if (timepoints.empty()) timepoints = numbered_folders(folder / fmt::format("setup{}", setup), "timepoint");
  if (timepoints.empty() || timepoints.size() > 10'000'000)
    store.fail(fmt::format("setup{}", setup),
               "has no time point (no folder timepoint0 ...); export it again");
  info.frames = static_cast<std::int32_t>(timepoints.size());
  const Dataset first = read_dataset(store, fmt::format("setup{}/timepoint{}/s0", setup, timepoints[0]));
  info.shape = {first.size[2], first.size[1], first.size[0]};
  info.type = first.type();
  note_conversion(info, first.sample);
  info.axes = std::string(info.frames > 1 ? "T" : "") + (info.channels > 1 ? "C" : "") + "ZYX";
  frame_bytes(info.type, info.shape, folder);
  Calibration calibration;
  calibration.source = "metadata (BigDataViewer XML)";
  if (const auto described = xml.setups.find(setup);
      described != xml.setups.end() && described->second.voxel_size.x > 0) {
    const auto factor = length_unit_um(described->second.unit);
    const Vec3 steps = level_steps(store, setup);
    if (factor) {
      calibration.x_um = described->second.voxel_size.x * *factor * steps.x;
      calibration.y_um = described->second.voxel_size.y * *factor * steps.y;
      calibration.z_um = described->second.voxel_size.z * *factor * steps.z;
    } else {
      info.notes.push_back(fmt::format("the XML's unit of length ('{}') is not a length: set input.voxel_um",
                                       described->second.unit));
    }
  } else if (!has_xml) {
    info.notes.push_back(
        fmt::format("no {} beside the images: voxel size unknown", beside.filename().string()));
  }
  apply_calibration(info, calibration, options);
  return std::make_unique<N5Frames>(std::move(info), std::move(store), timepoints, setup, first);
}

}  // namespace motes::io::detail
