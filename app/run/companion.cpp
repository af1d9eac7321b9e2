/// Reads the companion image of each frame, with checks against the input.

#include "app/run/companion.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include <motes/base/errors.h>

namespace motes::app {
namespace {

bool fits(const io::SeriesInfo& own, const io::SeriesInfo& series, bool one_plane) {
  const bool plane =
      one_plane && own.shape.nz == 1 && own.shape.ny == series.shape.ny && own.shape.nx == series.shape.nx;
  return (own.shape == series.shape || plane) && (own.frames == 1 || own.frames == series.frames);
}

/// The order of axes is that of the metadata; if they do not state it, that of input.axes; else it follows
/// from the input's shape, if the pages fit it in only one way.
std::unique_ptr<io::FrameSource> open(const std::string& key, const std::string& path, const Config& config,
                                      const io::SeriesInfo& series, bool one_plane) {
  io::FrameOptions options{series.voxel_um.value_or(Vec3{1, 1, 1}), series.dt_s.value_or(1), std::nullopt,
                           std::nullopt};
  std::exception_ptr unknown;
  try {
    return io::open_frames(path, options);
  } catch (const InputError&) {
    unknown = std::current_exception();
  }
  const auto with_axes = [&](const std::string& axes) -> std::unique_ptr<io::FrameSource> {
    options.axes = axes;
    try {
      auto source = io::open_frames(path, options);
      return fits(source->info(), series, one_plane) ? std::move(source) : nullptr;
    } catch (const InputError&) {
      return nullptr;
    } catch (const UsageError&) {
      return nullptr;  // the number of pages does not fit these axes
    }
  };
  if (config.input.axes)
    if (auto source = with_axes(*config.input.axes)) return source;
  const auto frames_with_axes = [&](const std::string& axes) {
    auto source = series.frames > 1 ? with_axes(axes) : nullptr;
    return source && source->info().frames > 1 ? std::move(source) : nullptr;
  };
  auto one = with_axes("ZYX");
  auto all = frames_with_axes(fmt::format("TZ{}YX", series.shape.nz));
  auto planes = series.shape.nz > 1 && one_plane ? frames_with_axes("TYX") : nullptr;
  const int ways = (one != nullptr) + (all != nullptr) + (planes != nullptr);
  if (ways > 1)
    throw InputError(fmt::format(
        "{}: {}: its metadata do not say which axis is z and which t, and its pages fit one volume of the "
        "input as well as its frames; save it as OME-TIFF or ImageJ TIFF, with its axes",
        key, path));
  if (ways == 0) std::rethrow_exception(unknown);
  return one ? std::move(one) : all ? std::move(all) : std::move(planes);
}

std::string shape_text(const Shape3& s) { return fmt::format("{} x {} x {}", s.nz, s.ny, s.nx); }

template <class T>
void repeat_plane(std::vector<T>& voxels, std::int64_t planes) {
  const std::size_t plane = voxels.size();
  voxels.resize(plane * static_cast<std::size_t>(planes));
  for (std::size_t i = plane; i < voxels.size(); ++i) voxels[i] = voxels[i - plane];
}

template <class T>
void repeat_plane(FileVoxels<T>& voxels, std::int64_t planes) {
  const std::size_t plane = voxels.size();
  ScratchArray<T> all(voxels.scratch(), plane * static_cast<std::size_t>(planes));
  for (std::size_t i = 0; i < all.size(); i += plane)
    std::copy(voxels.begin(), voxels.end(), all.begin() + i);
  voxels = FileVoxels<T>(std::move(all));
}

}  // namespace

Companion::Companion(const std::string& key, const std::string& path, const Config& config,
                     const io::SeriesInfo& series, bool one_plane)
    : series_(series), source_(open(key, path, config, series, one_plane)) {
  const io::SeriesInfo& own = source_->info();
  const bool plane =
      one_plane && own.shape.nz == 1 && own.shape.ny == series.shape.ny && own.shape.nx == series.shape.nx;
  if (!(own.shape == series.shape) && !plane)
    throw InputError(fmt::format(
        "{}: {} has frames of {} voxels [z, y, x], the input has {}; give an image of the input's shape", key,
        path, shape_text(own.shape), shape_text(series.shape)));
  if (own.frames != 1 && own.frames != series.frames)
    throw InputError(fmt::format("{}: {} has {} frames, the input has {}; give one frame, or one for each",
                                 key, path, own.frames, series.frames));
}

const VolumeFrame& Companion::read(std::int32_t t, const std::shared_ptr<Scratch>& scratch) {
  const std::int32_t wanted = source_->info().frames == 1 ? 0 : t;
  if (held_ != wanted) {
    frame_ = io::read_frame(*source_, wanted, scratch);
    held_ = wanted;
    if (!(frame_.shape == series_.shape)) {
      std::visit([&](auto& voxels) { repeat_plane(voxels, series_.shape.nz); }, frame_.voxels);
      frame_.shape = series_.shape;
    }
  }
  frame_.index = t;
  return frame_;
}

}  // namespace motes::app
