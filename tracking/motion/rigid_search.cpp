#include "tracking/motion/rigid_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include <Eigen/Dense>

#include "tracking/motion/near_cells.h"
#include "tracking/motion/near_points.h"

namespace motes::tracking {
namespace {

constexpr std::size_t kLeastPoints = 20;
constexpr int kMostDegrees = 60, kStepDegrees = 4;
constexpr double kTruncation = 0.8;

Eigen::Vector3d vector_of(const Vec3& p) { return {p.x, p.y, p.z}; }

Eigen::Vector3d centroid(std::span<const Vec3> points) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const Vec3& p : points) sum += vector_of(p);
  return sum / static_cast<double>(points.size());
}

/// Columns are the principal directions in order of spread, rising or falling.
Eigen::Matrix3d principal_axes(std::span<const Vec3> points, const Eigen::Vector3d& centre) {
  Eigen::Matrix3d spread = Eigen::Matrix3d::Zero();
  for (const Vec3& p : points) {
    const Eigen::Vector3d d = vector_of(p) - centre;
    spread += d * d.transpose();
  }
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(spread).eigenvectors();
}

}  // namespace

std::vector<Vec3> rigid_moves(std::span<const Vec3> from, std::span<const Vec3> to, double spacing) {
  if (from.size() < kLeastPoints || to.size() < kLeastPoints) return {};
  const Eigen::Vector3d start = centroid(from), stop = centroid(to);
  const Eigen::Matrix3d axes = principal_axes(from, start);
  const NearPoints near(to);
  const NearCells cells(to, kTruncation * spacing);
  const double most = kTruncation * spacing * kTruncation * spacing;
  const auto squared_at = [&](const Vec3& place) {
    if (cells.known()) return cells.squared(place);
    std::size_t nearest = 0;
    double squared = 0;
    near.nearest(place, 1, &nearest, &squared);
    return squared;
  };
  double best = std::numeric_limits<double>::infinity();
  std::vector<Vec3> out(from.size()), moves(from.size());
  for (int axis = 0; axis < 3; ++axis)
    for (int degrees = -kMostDegrees; degrees <= kMostDegrees; degrees += kStepDegrees) {
      const Eigen::Matrix3d turn =
          Eigen::AngleAxisd(degrees * std::numbers::pi / 180, axes.col(axis)).toRotationMatrix();
      double sum = 0;
      for (std::size_t k = 0; k < from.size() && sum < best; ++k) {
        const Eigen::Vector3d p = turn * (vector_of(from[k]) - start) + stop;
        const Eigen::Vector3d d = p - vector_of(from[k]);
        moves[k] = {d.x(), d.y(), d.z()};
        sum += std::min(squared_at({p.x(), p.y(), p.z()}), most);
      }
      if (sum < best) best = sum, std::swap(out, moves);
    }
  return out;
}

}  // namespace motes::tracking
