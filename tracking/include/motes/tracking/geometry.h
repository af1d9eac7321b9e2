#pragma once
/// Small geometric value types shared by every step.

#include <cmath>
#include <cstdint>

#include <motes/base/host_device.h>

namespace motes {

/// A point, a length per axis or a voxel size; the unit is in the variable's name.
struct Vec3 {
  double x = 0, y = 0, z = 0;
  friend bool operator==(const Vec3&, const Vec3&) = default;
};

MOTES_HOST_DEVICE constexpr Vec3 operator+(const Vec3& a, const Vec3& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
MOTES_HOST_DEVICE constexpr Vec3 operator-(const Vec3& a, const Vec3& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
MOTES_HOST_DEVICE constexpr Vec3 operator*(double factor, const Vec3& v) {
  return {factor * v.x, factor * v.y, factor * v.z};
}
MOTES_HOST_DEVICE constexpr Vec3& operator+=(Vec3& a, const Vec3& b) { return a = a + b; }
MOTES_HOST_DEVICE constexpr double dot(const Vec3& a, const Vec3& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
MOTES_HOST_DEVICE constexpr Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
MOTES_HOST_DEVICE constexpr double squared_length(const Vec3& v) { return dot(v, v); }
MOTES_HOST_DEVICE inline double length_of(const Vec3& v) { return std::sqrt(squared_length(v)); }

/// Size of a volume in voxels. Voxel (z, y, x) lies at index (z * ny + y) * nx + x.
struct Shape3 {
  std::int64_t nz = 0, ny = 0, nx = 0;
  std::int64_t voxels() const { return nz * ny * nx; }
  friend bool operator==(const Shape3&, const Shape3&) = default;
};

}  // namespace motes
