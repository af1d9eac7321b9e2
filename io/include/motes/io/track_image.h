#pragma once
/// The images that tracks belong to, for track formats that refer to images.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <motes/tracking/geometry.h>
#include <motes/tracking/volume_frame.h>

namespace motes::io {

struct TrackImage {
  std::string path;                 ///< empty: no image
  std::optional<Vec3> voxel_um;     ///< in the tracks' unit
  std::optional<Shape3> shape;      ///< of one frame; none: large enough for the tracks
  std::int32_t frames = 0;          ///< 0: up to the last frame of the tracks
  std::optional<double> radius_um;  ///< for points of unknown radius
  /// Label image of a frame below `frames`, with the points as objects; none: unknown.
  std::function<VolumeFrame(std::int32_t frame)> labels;
};

}  // namespace motes::io
