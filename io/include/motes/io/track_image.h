#pragma once
/// The images that tracks belong to, for formats that point to them.

#include <cstdint>
#include <optional>
#include <string>

#include <motes/tracking/geometry.h>

namespace motes::io {

struct TrackImage {
  std::string path;                 ///< empty: no image
  std::optional<Vec3> voxel_um;     ///< in the tracks' unit
  std::optional<Shape3> shape;      ///< of one frame; none: what the tracks need
  std::int32_t frames = 0;          ///< 0: up to the tracks' last
  std::optional<double> radius_um;  ///< of points whose radius is not known
};

}  // namespace motes::io
