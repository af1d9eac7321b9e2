/// The quadratic is the weighted least-squares one over the 3x3x3 neighbourhood, weights 1-2-1 along each axis:
/// with noise it is steadier than differences through the centre alone, and corners count little. By the
/// symmetry of the grid its coefficients are plain weighted sums (no system to solve): along an axis the slope is
/// the smoothed first difference, the curvature the smoothed second difference.
///
/// A frame's outermost voxel has no neighbour on one side. Such an axis is left out of the fit; the difference to the
/// one neighbour there is (the slope half way to it) and the curvature that a spot of the filter's own radius has tell
/// the offset. If the vertex lies more than half a voxel off, the fit moves there and is repeated.
///
/// Width: for a Gaussian spot of variance s0^2 seen through a filter of variance s^2 in d dimensions, the
/// response's curvature at its peak is -(d + 2) / d * peak / (s0^2 + s^2). The LoG answers such a spot most at the
/// radius sqrt(2) s0, which is therefore called its radius.

#include "tracking/detect/refine.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

namespace motes::tracking::detect {
namespace {

constexpr int kMoves = 4;             // steps to a neighbour voxel before the fit is taken as it is
constexpr double kSettled = 0.5;      // voxels of offset at most
constexpr double kLeastWidth = 0.25;  // of the filter's variance: the narrowest spot told

using Index3 = std::array<std::int64_t, 3>;  // x, y, z

struct Fit {
  Eigen::Vector3d slope = Eigen::Vector3d::Zero();
  Eigen::Matrix3d curvature = Eigen::Matrix3d::Zero();
  std::array<bool, 3> free{};  ///< axes with neighbours on both sides
};

Fit fit_quadratic(const Response& response, const Index3& at) {
  const Shape3& shape = response.shape();
  const Index3 size{shape.nx, shape.ny, shape.nz};
  Fit fit;
  for (std::size_t a = 0; a < 3; ++a) fit.free[a] = at[a] > 0 && at[a] + 1 < size[a];
  const auto step_of = [&](std::size_t axis, int from) { return fit.free[axis] ? from : 0; };
  for (int dz = -1; dz <= 1; ++dz) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const std::array<int, 3> d{dx, dy, dz};
        const double value = response.at(at[2] + step_of(2, dz), at[1] + step_of(1, dy), at[0] + step_of(0, dx));
        const auto smooth = [&](std::size_t a) { return d[a] == 0 ? 0.5 : 0.25; };
        for (std::size_t a = 0; a < 3; ++a) {
          const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
          const double others = smooth(b) * smooth(c) * value;
          fit.slope(static_cast<int>(a)) += 0.5 * d[a] * others;
          fit.curvature(static_cast<int>(a), static_cast<int>(a)) += (d[a] == 0 ? -2 : 1) * others;
          fit.curvature(static_cast<int>(a), static_cast<int>(b)) += 0.25 * d[a] * d[b] * smooth(c) * value;
        }
      }
    }
  }
  for (int a = 0; a < 3; ++a) fit.curvature((a + 1) % 3, a) = fit.curvature(a, (a + 1) % 3);
  return fit;
}

/// Vertex relative to the voxel; along each axis by itself where the quadratic is no maximum.
Eigen::Vector3d vertex(const Fit& fit) {
  Eigen::Matrix3d curvature = -fit.curvature;
  Eigen::Vector3d slope = fit.slope;
  for (int a = 0; a < 3; ++a) {
    if (fit.free[static_cast<std::size_t>(a)]) continue;
    curvature.row(a).setZero();
    curvature.col(a).setZero();
    curvature(a, a) = 1;
    slope(a) = 0;
  }
  const Eigen::LLT<Eigen::Matrix3d> decomposition(curvature);
  if (decomposition.info() == Eigen::Success) {
    const Eigen::Vector3d offset = decomposition.solve(slope);
    if (offset.allFinite() && offset.cwiseAbs().maxCoeff() <= 2) return offset;
  }
  Eigen::Vector3d offset = Eigen::Vector3d::Zero();
  for (int a = 0; a < 3; ++a)
    if (curvature(a, a) > 0) offset(a) = slope(a) / curvature(a, a);
  return offset;
}

/// Offset along an axis that ends at the voxel, from the slope towards its one neighbour; see above.
double border_offset(const Response& response, const Filter& filter, const Index3& at, std::size_t axis) {
  const Shape3& shape = response.shape();
  const Index3 size{shape.nx, shape.ny, shape.nz};
  if (size[axis] < 2) return 0;
  const int inwards = at[axis] == 0 ? 1 : -1;
  Index3 next = at;
  next[axis] += inwards;
  const double here = response.at(at[2], at[1], at[0]), there = response.at(next[2], next[1], next[0]);
  // A Gaussian spot of the filter's radius has d / 2 times the filter's variance: seen through it, 1 + d / 2 times.
  const double d = filter.dimensions;
  const double curvature = (d + 2) / d / (filter.sigma[axis] * filter.sigma[axis] * (1 + d / 2));
  const double height = std::max(0.5 * (here + there), 0.25 * here);
  return inwards * std::clamp(0.5 - (here - there) / (curvature * height), 0.0, kSettled);
}

/// Moves `at` one voxel towards an offset of more than half a voxel; false where there is no such need or room.
bool step_towards(const Eigen::Vector3d& offset, const Shape3& shape, Index3& at) {
  const Index3 size{shape.nx, shape.ny, shape.nz};
  bool moved = false;
  for (std::size_t a = 0; a < 3; ++a) {
    const double o = offset(static_cast<int>(a));
    if (std::abs(o) <= kSettled + 0.1) continue;  // the margin keeps a tie between two voxels from swinging
    const std::int64_t next = at[a] + (o > 0 ? 1 : -1);
    if (next < 0 || next >= size[a]) continue;
    at[a] = next;
    moved = true;
  }
  return moved;
}

double radius_of(const Fit& fit, const Filter& filter, const Vec3& voxel_um, double peak) {
  const std::array<double, 3> voxel{voxel_um.x, voxel_um.y, voxel_um.z};
  const double d = filter.dimensions;
  double log_sum = 0;
  int axes = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double curvature = -fit.curvature(static_cast<int>(a), static_cast<int>(a));
    if (!fit.free[a] || !(curvature > 0)) continue;
    const double filter_variance = filter.sigma[a] * filter.sigma[a];
    const double variance = std::max((d + 2) / d * peak / curvature - filter_variance, kLeastWidth * filter_variance);
    log_sum += std::log(std::sqrt(2 * variance) * voxel[a]);
    ++axes;
  }
  return axes > 0 ? std::exp(log_sum / axes) : 0;
}

}  // namespace

Peak refine(const Response& response, const Filter& filter, const Vec3& voxel_um, const Voxel& maximum) {
  Index3 at{maximum.x, maximum.y, maximum.z};
  Fit fit = fit_quadratic(response, at);
  Eigen::Vector3d offset = vertex(fit);
  for (int move = 0; move < kMoves && step_towards(offset, response.shape(), at); ++move) {
    fit = fit_quadratic(response, at);
    offset = vertex(fit);
  }
  offset = offset.cwiseMax(-kSettled).cwiseMin(kSettled);
  const double fitted = response.at(at[2], at[1], at[0]) + 0.5 * fit.slope.dot(offset);
  for (std::size_t a = 0; a < 3; ++a)
    if (!fit.free[a]) offset(static_cast<int>(a)) = border_offset(response, filter, at, a);

  const double voxel_value = response.at(maximum.z, maximum.y, maximum.x);
  Peak peak;
  peak.x = static_cast<double>(at[0]) + offset(0);
  peak.y = static_cast<double>(at[1]) + offset(1);
  peak.z = static_cast<double>(at[2]) + offset(2);
  peak.quality = std::clamp(fitted, voxel_value, 2 * voxel_value);
  peak.radius_um = radius_of(fit, filter, voxel_um, peak.quality);
  return peak;
}

}  // namespace motes::tracking::detect
