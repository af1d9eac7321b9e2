#include "tracking/motion/local_field.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include <motes/base/parallel_for.h>

#include "tracking/motion/near_points.h"

namespace motes::tracking {
namespace {

constexpr double kRidge = 0.15, kTaper = 1.5, kRobust = 2;
constexpr int kReweightings = 3;
constexpr std::size_t kLeastForAffine = 8;
constexpr std::int64_t kBlock = 256;

/// The displacements around one place.
struct Around {
  std::size_t count = 0;
  std::array<double, kFieldNeighbours> distance{};
  std::array<Vec3, kFieldNeighbours> offset{}, move{};
};

double length(double x, double y, double z) { return std::sqrt((x * x + y * y) + z * z); }

using Values = std::array<double, kFieldNeighbours>;

/// Of the first `count`, the upper one of two in the middle: the value that so many are below. Counting is
/// faster than partial sorting, as it has no branches.
double median(const Values& values, std::size_t count) {
  Values padded = values;
  for (std::size_t k = count; k < padded.size(); ++k) padded[k] = std::numeric_limits<double>::infinity();
  const auto middle = static_cast<int>(count / 2);
  for (std::size_t k = 0; k < count; ++k) {
    int below = 0, not_above = 0;
    for (const double other : padded) below += other < padded[k], not_above += other <= padded[k];
    if (below <= middle && middle < not_above) return padded[k];
  }
  return padded[count / 2];  // values that are not numbers
}

Vec3 median_move(const Around& around) {
  const auto along = [&](double Vec3::*axis) {
    Values values{};
    for (std::size_t k = 0; k < around.count; ++k) values[k] = around.move[k].*axis;
    return median(values, around.count);
  };
  return {along(&Vec3::x), along(&Vec3::y), along(&Vec3::z)};
}

Vec3 affine_move(const Around& around, const Vec3& median_of_moves) {
  const std::size_t n = around.count;
  const double farthest = around.distance[n - 1];
  Values taper{}, error{};
  double mean_distance = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double t = farthest > 0 ? around.distance[k] / (farthest / kTaper) : 0;
    taper[k] = std::exp(-0.5 * t * t);
    mean_distance += around.distance[k] / static_cast<double>(n);
    const Vec3& m = around.move[k];
    error[k] = length(m.x - median_of_moves.x, m.y - median_of_moves.y, m.z - median_of_moves.z);
  }
  const double tiny = 1e-9 * (farthest + 1e-300);
  Vec3 out = median_of_moves;
  for (int round = 0; round < kReweightings; ++round) {
    const double spread = median(error, n) + tiny;
    Eigen::Matrix4d normal = Eigen::Matrix4d::Zero();
    Eigen::Matrix<double, 4, 3> right = Eigen::Matrix<double, 4, 3>::Zero();
    double weights = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double r = error[k] / (kRobust * spread), shrink = 1 + r * r;
      const double w = taper[k] / (shrink * shrink);
      const Eigen::Vector4d a(1, around.offset[k].x, around.offset[k].y, around.offset[k].z);
      normal += w * a * a.transpose();
      right += w * a * Eigen::RowVector3d(around.move[k].x, around.move[k].y, around.move[k].z);
      weights += w;
    }
    const double ridge = kRidge * mean_distance * mean_distance * weights;
    for (int axis = 1; axis < 4; ++axis) normal(axis, axis) += ridge + 1e-300;
    const Eigen::Matrix<double, 4, 3> fit = normal.ldlt().solve(right);
    out = {fit(0, 0), fit(0, 1), fit(0, 2)};
    if (round + 1 == kReweightings) break;
    for (std::size_t k = 0; k < n; ++k) {
      const Eigen::Vector4d a(1, around.offset[k].x, around.offset[k].y, around.offset[k].z);
      const Eigen::RowVector3d left = a.transpose() * fit;
      const Vec3& m = around.move[k];
      error[k] = length(m.x - left[0], m.y - left[1], m.z - left[2]);
    }
  }
  const bool finite = std::isfinite(out.x) && std::isfinite(out.y) && std::isfinite(out.z);
  return finite ? out : median_of_moves;
}

}  // namespace

std::vector<Vec3> local_field(const Execution& execution, std::span<const Vec3> sources,
                              std::span<const Vec3> moves, std::span<const Vec3> queries,
                              std::span<const std::ptrdiff_t> own) {
  std::vector<Vec3> out(queries.size());
  if (sources.size() < kLeastFieldSources) return out;
  const NearPoints near(sources);
  const auto n = static_cast<std::int64_t>(queries.size());
  parallel_for(thread_count(execution), (n + kBlock - 1) / kBlock, [&](std::int64_t block) {
    std::array<std::size_t, kFieldNeighbours + 1> index{};
    std::array<double, kFieldNeighbours + 1> squared{};
    for (std::int64_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) {
      const auto q = static_cast<std::size_t>(i);
      const std::size_t found = near.nearest(queries[q], kFieldNeighbours + 1, index.data(), squared.data());
      Around around;
      for (std::size_t k = 0; k < found && around.count < kFieldNeighbours; ++k) {
        if (!own.empty() && static_cast<std::ptrdiff_t>(index[k]) == own[q]) continue;
        const Vec3 &p = sources[index[k]], &at = queries[q];
        around.distance[around.count] = std::sqrt(squared[k]);
        around.offset[around.count] = {p.x - at.x, p.y - at.y, p.z - at.z};
        around.move[around.count++] = moves[index[k]];
      }
      const Vec3 middle = median_move(around);
      out[q] = around.count < kLeastForAffine ? middle : affine_move(around, middle);
    }
  });
  return out;
}

}  // namespace motes::tracking
