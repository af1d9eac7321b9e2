#pragma once
/// One time point of a volume series.

#include <cstdint>
#include <variant>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes {

using Voxels = std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<float>>;

/// The centre of voxel (z, y, x) lies at (x * voxel_um.x, y * voxel_um.y, z * voxel_um.z): the first
/// voxel's centre is the origin.
struct VolumeFrame {
  std::int32_t index = 0;  ///< frame number in the input's own counting, from 0
  double time_s = 0;       ///< index * frame interval; the frame number where the interval is unknown
  Shape3 shape;
  Vec3 voxel_um;
  Voxels voxels;  ///< [nz * ny * nx], x fastest
};

}  // namespace motes
