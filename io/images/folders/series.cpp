/// A FrameSource for a folder with one folder per volume.

#include "io/images/folders/series.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/images/calibration.h"
#include "io/images/folders/frames.h"
#include "io/images/folders/numbered_names.h"
#include "io/images/folders/plane_names.h"
#include "io/images/voxel_buffer.h"

namespace motes::io::detail {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders_of_images(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename().string().starts_with('.') || !entry->is_directory(ignored)) continue;
    if (is_image_folder(entry->path())) folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  return folders;
}

void check_alike(const SeriesInfo& first, const SeriesInfo& other) {
  if (other.frames != 1)
    throw InputError(
        fmt::format("{}: has {} time points, but each folder of the series is one; give one folder, or set "
                    "input.axes ('ZYX' if its planes are z)",
                    other.path, other.frames));
  if (other.shape != first.shape || other.type != first.type || other.channels != first.channels)
    throw InputError(
        fmt::format("{}: its volume is {} x {} x {} of {}, that of {} {} x {} x {} of {}; all volumes must "
                    "have the same shape and type",
                    other.path, other.shape.nz, other.shape.ny, other.shape.nx, to_string(other.type),
                    first.path, first.shape.nz, first.shape.ny, first.shape.nx, to_string(first.type)));
  if (first.voxel_um && other.voxel_um && !(*first.voxel_um == *other.voxel_um))
    throw InputError(
        fmt::format("{}: its metadata give another voxel size than those of {}; set input.voxel_um",
                    other.path, first.path));
}

class FolderSeries : public FrameSource {
 public:
  FolderSeries(SeriesInfo info, std::vector<fs::path> folders, FrameOptions options)
      : info_(std::move(info)), folders_(std::move(folders)), options_(std::move(options)) {}
  const SeriesInfo& info() const override { return info_; }

  VolumeFrame read(std::int32_t t) override { return read_into_memory(*this, t); }

  void read_voxels(std::int32_t t, std::span<std::byte> out) override {
    check_frame_number(info_, t);
    const auto source = open_folder_frames(folders_[static_cast<std::size_t>(t)], options_);
    check_alike(info_, source->info());
    source->read_voxels(0, out);
  }

 private:
  SeriesInfo info_;
  std::vector<fs::path> folders_;
  FrameOptions options_;
};

}  // namespace

bool is_folder_series(const fs::path& folder) { return folders_of_images(folder).size() > 1; }

std::unique_ptr<FrameSource> open_folder_series(const fs::path& folder, const FrameOptions& options) {
  const std::vector<fs::path> folders = folders_of_images(folder);
  if (folders.empty()) return nullptr;
  if (folders.size() == 1) return open_folder_frames(folders.front(), options);
  if (counted_axis(folders) != 'T')
    throw InputError(fmt::format(
        "{}: holds {} folders of images ('{}' ...), whose names do not count time (t000, time1 ...); "
        "give one of them, or name them so",
        folder.string(), folders.size(), folders.front().filename().string()));
  check_numbered(folders);
  SeriesInfo info = open_folder_frames(folders.front(), options)->info();
  check_alike(info, info);
  for (std::size_t f = 1; f < folders.size(); ++f)
    check_alike(info, open_folder_frames(folders[f], options)->info());
  info.path = folder.string();
  info.format = fmt::format("{} folders, each a {}", folders.size(), info.format);
  info.frames = static_cast<std::int32_t>(folders.size());
  info.axes = "T" + info.axes;
  return std::make_unique<FolderSeries>(std::move(info), folders, options);
}

}  // namespace motes::io::detail
