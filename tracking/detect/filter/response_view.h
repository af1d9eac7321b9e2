#pragma once
/// Views of a response and its filter for the rules of one spot, on the CPU and on the GPU.

#include <array>
#include <cmath>
#include <cstdint>

#include <motes/base/host_device.h>

namespace motes::tracking::detect {

/// std::clamp by value: device code cannot take the address of a constant.
template <class T>
MOTES_HOST_DEVICE constexpr T limited(T value, T least, T most) {
  return value < least ? least : most < value ? most : value;
}

/// Number of voxels at the end of an axis of n voxels whose mean continues the frame beyond it.
MOTES_HOST_DEVICE inline std::int64_t edge_voxels(int kernel_radius, std::int64_t n) {
  const std::int64_t wanted = kernel_radius > 0 ? (kernel_radius + 1) / 2 : 1;
  return wanted < n ? wanted : n;
}

/// Adds one tap on each side of a symmetric kernel. Every smoothing pass is centre * weights[0], then this
/// for k = 1, 2, ... in order.
MOTES_HOST_DEVICE inline float with_pair(float sum, float weight, float left, float right) {
  return sum + weight * (left + right);
}

/// Sum of weighted second differences of the smoothed frame.
MOTES_HOST_DEVICE inline float laplacian_of(float centre, float x0, float x1, float y0, float y1, float z0,
                                            float z1, float weight_x, float weight_y, float weight_z) {
  const float twice = 2 * centre;
  return weight_x * (x0 - twice + x1) + weight_y * (y0 - twice + y1) + weight_z * (z0 - twice + z1);
}

/// The values of a Filter that the rules need. Order: x, y, z.
struct FilterView {
  std::array<double, 3> sigma{};  ///< voxels
  int dimensions = 0;
};

/// Trivially copyable; does not own what it points to.
struct ResponseView {
  const float* log = nullptr;             ///< [nz][ny][nx]
  const float* plane_smoothed = nullptr;  ///< [nz][ny + 2][nx + 2]
  std::int64_t nz = 0, ny = 0, nx = 0;
  const float* along_z = nullptr;  ///< [radius_z + 1] weights
  int radius_z = 0;
  float offset = 0;

  MOTES_HOST_DEVICE float at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return log[(z * ny + y) * nx + x];
  }

  /// Smoothed frame value (offset included) at a voxel position, trilinear between voxels.
  MOTES_HOST_DEVICE double smoothed(double z, double y, double x) const {
    const double z0 = std::floor(z), y0 = std::floor(y), x0 = std::floor(x);
    const double fz = z - z0, fy = y - y0, fx = x - x0;
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      const int dz = corner >> 2, dy = corner >> 1 & 1, dx = corner & 1;
      const double weight = (dz != 0 ? fz : 1 - fz) * (dy != 0 ? fy : 1 - fy) * (dx != 0 ? fx : 1 - fx);
      if (weight == 0) continue;
      sum += weight * smoothed_voxel(clamped(static_cast<std::int64_t>(z0) + dz, nz),
                                     clamped(static_cast<std::int64_t>(y0) + dy, ny),
                                     clamped(static_cast<std::int64_t>(x0) + dx, nx));
    }
    return sum + static_cast<double>(offset);
  }

 private:
  MOTES_HOST_DEVICE static std::int64_t clamped(std::int64_t i, std::int64_t n) {
    return limited<std::int64_t>(i, 0, n - 1);
  }
  MOTES_HOST_DEVICE double plane_value(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return static_cast<double>(plane_smoothed[(z * (ny + 2) + y + 1) * (nx + 2) + x + 1]);
  }
  MOTES_HOST_DEVICE double smoothed_voxel(std::int64_t z, std::int64_t y, std::int64_t x) const {
    const std::int64_t edge = edge_voxels(radius_z, nz);
    double before = 0, after = 0;
    if (z < radius_z)
      for (std::int64_t k = 0; k < edge; ++k) before += plane_value(k, y, x) / static_cast<double>(edge);
    if (z + radius_z >= nz)
      for (std::int64_t k = 0; k < edge; ++k)
        after += plane_value(nz - 1 - k, y, x) / static_cast<double>(edge);
    double sum = 0;
    for (std::int64_t k = z - radius_z; k <= z + radius_z; ++k) {
      const double weight = static_cast<double>(along_z[k < z ? z - k : k - z]);
      sum += weight * (k < 0 ? before : k >= nz ? after : plane_value(k, y, x));
    }
    return sum;
  }
};

}  // namespace motes::tracking::detect
