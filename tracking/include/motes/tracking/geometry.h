#pragma once
/// Small geometric value types shared by every step.

#include <cstdint>

namespace motes {

/// A point, a length per axis or a voxel size; the unit is in the variable's name.
struct Vec3 {
  double x = 0, y = 0, z = 0;
  friend bool operator==(const Vec3&, const Vec3&) = default;
};

/// Size of a volume in voxels. Voxel (z, y, x) lies at index (z * ny + y) * nx + x.
struct Shape3 {
  std::int64_t nz = 0, ny = 0, nx = 0;
  std::int64_t voxels() const { return nz * ny * nx; }
  friend bool operator==(const Shape3&, const Shape3&) = default;
};

}  // namespace motes
