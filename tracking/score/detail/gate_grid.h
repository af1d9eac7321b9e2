#pragma once
/// Neighbours within a gate: the points of one frame, hashed by cells a little larger than the gate.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tracking/types/geometry.h"

namespace motes::tracking::detail {

/// Euclidean distance; infinite where its square overflows.
inline double distance(const Vec3& a, const Vec3& b) {
  const double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
  return std::sqrt(dx * dx + dy * dy + dz * dz);
}

/// Memory and building time O(points), whatever the coordinates' range. Keeps its own copy of the points.
class GateGrid {
 public:
  GateGrid(std::vector<Vec3> points, double gate);

  /// Calls act(point number, distance) for every point strictly nearer than the gate, each once, in an order
  /// that only the points decide.
  template <class Act>
  void for_each_within(const Vec3& at, const Act& act) const {
    if (points_.empty()) return;
    const Axis z = around(at.z), y = around(at.y), x = around(at.x);
    for (std::size_t k = 0; k < z.count; ++k)
      for (std::size_t j = 0; j < y.count; ++j)
        for (std::size_t i = 0; i < x.count; ++i) visit({x.cell[i], y.cell[j], z.cell[k]}, at, act);
  }

 private:
  /// The cells around a coordinate on one axis. Beyond 2^53 cells from the origin c + 1 == c: then fewer.
  struct Axis {
    std::array<double, 3> cell{};
    std::size_t count = 0;
  };
  Axis around(double coordinate) const;
  Vec3 cell_of(const Vec3& p) const;
  std::size_t bucket_of(const Vec3& cell) const;

  template <class Act>
  void visit(const Vec3& cell, const Vec3& at, const Act& act) const {
    const std::size_t bucket = bucket_of(cell);
    for (std::size_t n = bucket_offsets_[bucket]; n < bucket_offsets_[bucket + 1]; ++n) {
      const std::size_t i = order_[n];
      if (!(cells_[i] == cell)) continue;  // another cell with the same hash
      const double d = distance(points_[i], at);
      if (d < gate_) act(i, d);
    }
  }

  std::vector<Vec3> points_, cells_;  // cells are whole numbers held as doubles: no range to overflow
  double gate_, cell_size_;
  std::size_t mask_ = 0;
  std::vector<std::size_t> bucket_offsets_, order_;
};

}  // namespace motes::tracking::detail
