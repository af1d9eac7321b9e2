#include "app/run/track_images.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include <motes/io/track_files.h>
#include <motes/io/tracks_h5.h>

namespace motes::app {
namespace {

namespace fs = std::filesystem;

/// Whether the paths are of the same place, or have the same name (after a folder was moved).
bool same_images(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) || a.filename() == b.filename();
}

bool voxels_alike(const Vec3& a, const Vec3& b) {
  const auto close = [](double x, double y) { return std::abs(x - y) <= 1e-6 * std::max(x, y); };
  return close(a.x, b.x) && close(a.y, b.y) && close(a.z, b.z);
}

std::string um_text(const Vec3& v) { return fmt::format("[{:g}, {:g}, {:g}] um", v.z, v.y, v.x); }

}  // namespace

std::unique_ptr<io::FrameSource> open_images_of(const std::string& images, const std::string& tracks,
                                                const Config& config, std::vector<std::string>& notes) {
  io::FrameOptions options{config.input.voxel_um, config.input.dt_s, config.input.channel, config.input.axes};
  std::unique_ptr<io::FrameSource> source = io::open_frames(images, options);
  if (config.input.voxel_um) return source;
  const fs::path file = io::tracks_of_run(tracks);
  const std::optional<io::TrackedImages> tracked = io::tracked_images(file);
  const std::optional<Vec3> own = source->info().voxel_um;
  if (!tracked || (own && (voxels_alike(*own, tracked->voxel_um) || !same_images(tracked->source, images))))
    return source;
  notes.push_back(fmt::format("voxel size of {}: {} [z, y, x], as {} states{}", images,
                              um_text(tracked->voxel_um), file.string(),
                              own ? "; its metadata give " + um_text(*own) : ""));
  options.voxel_um = tracked->voxel_um;
  return io::open_frames(images, options);
}

io::TrackImage image_of(const std::string& path, const io::FrameSource* images, const TrackSet& tracks,
                        const Config& config) {
  io::TrackImage image;
  image.voxel_um = config.input.voxel_um;
  if (config.detection.radius_um) image.radius_um = config.detection.radius_um->x;
  if (images != nullptr) {
    if (!path.empty()) image.path = fs::absolute(path).lexically_normal().string();
    image.voxel_um = images->info().voxel_um;
    image.shape = images->info().shape;
    image.frames = images->info().frames;
  }
  if (tracks.length_unit == "px") image.voxel_um.reset();
  return image;
}

}  // namespace motes::app
