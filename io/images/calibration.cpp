/// Combines metadata and options; the options take precedence.

#include "io/images/calibration.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <motes/base/errors.h>

namespace motes::io::detail {
namespace {

bool is_size(double value) { return std::isfinite(value) && value > 0; }

void apply_voxel_size(SeriesInfo& info, const Calibration& metadata) {
  if (!metadata.x_um || !metadata.y_um) {
    if (metadata.z_um)
      info.notes.push_back("the metadata give the spacing of planes, but not the pixel size");
    return;
  }
  double z_um = metadata.z_um.value_or(0);
  if (!metadata.z_um) {
    if (info.shape.nz > 1) {
      info.notes.push_back(
          fmt::format("the metadata give the pixel size (x {} um, y {} um), but not the spacing of "
                      "planes: set input.voxel_um",
                      *metadata.x_um, *metadata.y_um));
      return;
    }
    z_um = *metadata.x_um;
    info.notes.push_back("a single plane: the voxel's z size is taken as its x size");
  }
  info.voxel_um = Vec3{*metadata.x_um, *metadata.y_um, z_um};
  info.voxel_um_source = metadata.source;
  constexpr double kLargeUm = 100;
  if (std::max(*metadata.x_um, *metadata.y_um) > kLargeUm)
    info.notes.push_back(fmt::format(
        "the metadata give voxels of {:g} um, which is large for a microscope: check input.voxel_um",
        std::max(*metadata.x_um, *metadata.y_um)));
}

}  // namespace

void check_options(const FrameOptions& options) {
  if (options.voxel_um &&
      !(is_size(options.voxel_um->x) && is_size(options.voxel_um->y) && is_size(options.voxel_um->z)))
    throw UsageError("input.voxel_um: must be positive and finite; give one number or [z, y, x] in um");
  if (options.dt_s && !is_size(*options.dt_s))
    throw UsageError(
        fmt::format("input.dt_s: {} is not positive and finite; give seconds between frames", *options.dt_s));
}

void apply_calibration(SeriesInfo& info, const Calibration& metadata, const FrameOptions& options) {
  if (options.voxel_um) {
    info.voxel_um = options.voxel_um;
    info.voxel_um_source = "input.voxel_um";
  } else {
    apply_voxel_size(info, metadata);
  }
  info.dt_s = options.dt_s ? options.dt_s : metadata.dt_s;
  if (info.dt_s) info.dt_s_source = options.dt_s ? "input.dt_s" : metadata.source;
}

std::string ask_for_calibration(const Calibration& metadata, const FrameOptions& options) {
  const bool voxel = options.voxel_um || (metadata.x_um && metadata.y_um && metadata.z_um);
  const bool interval = options.dt_s || metadata.dt_s;
  if (voxel && interval) return "";
  return fmt::format("; set {}{}{} too: the metadata do not give {}",
                     voxel ? "" : "input.voxel_um (--voxel Z,Y,X or one number, in um)",
                     voxel || interval ? "" : " and, of several frames, ",
                     interval ? "" : "input.dt_s (--dt, in seconds)", voxel || interval ? "it" : "them");
}

void choose_channel(SeriesInfo& info, const FrameOptions& options) {
  info.channel = options.channel.value_or(0);
  if (info.channel < 0 || info.channel >= info.channels) {
    throw UsageError(fmt::format(
        "input.channel: {} is out of range: {} has {}", info.channel, info.path,
        info.channels == 1 ? "1 channel; leave input.channel out"
                           : fmt::format("{} channels; choose 0 to {}", info.channels, info.channels - 1)));
  }
  if (!options.channel && info.channels > 1)
    info.notes.push_back(
        fmt::format("{} channels: the first is read; set input.channel (0 to {}) for another", info.channels,
                    info.channels - 1));
}

void check_frame_number(const SeriesInfo& info, std::int32_t t) {
  if (t >= 0 && t < info.frames) return;
  throw InputError(
      fmt::format("{}: frame {} is asked for, but its frames are 0 to {}", info.path, t, info.frames - 1));
}

VolumeFrame empty_frame(const SeriesInfo& info, std::int32_t t) {
  VolumeFrame frame;
  frame.index = t;
  frame.time_s = t * info.dt_s.value_or(1.0);
  frame.shape = info.shape;
  frame.voxel_um = info.voxel_um.value_or(Vec3{1, 1, 1});
  return frame;
}

}  // namespace motes::io::detail
