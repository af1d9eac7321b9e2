#include "tracking/score/detail/gate_grid.h"

#include <bit>

namespace motes::tracking::detail {
namespace {

/// Points within the gate must never lie two cells apart through rounding of coordinate / size.
constexpr double kSlack = 1 + 1e-6;

std::uint64_t mix(std::uint64_t h, double cell) {
  h ^= std::bit_cast<std::uint64_t>(cell + 0.0);  // -0 and 0 are one cell
  h *= 0x9E3779B97F4A7C15ULL;
  return h ^ (h >> 29);
}

}  // namespace

GateGrid::GateGrid(std::vector<Vec3> points, double gate)
    : points_(std::move(points)), gate_(gate), cell_size_(gate * kSlack) {
  mask_ = std::bit_ceil(points_.size() + 1) - 1;
  cells_.reserve(points_.size());
  for (const Vec3& p : points_) cells_.push_back(cell_of(p));
  bucket_offsets_.assign(mask_ + 2, 0);
  for (const Vec3& cell : cells_) ++bucket_offsets_[bucket_of(cell) + 1];
  for (std::size_t b = 1; b < bucket_offsets_.size(); ++b) bucket_offsets_[b] += bucket_offsets_[b - 1];
  order_.resize(points_.size());
  std::vector<std::size_t> next(bucket_offsets_.begin(), bucket_offsets_.end() - 1);
  for (std::size_t i = 0; i < cells_.size(); ++i) order_[next[bucket_of(cells_[i])]++] = i;
}

GateGrid::Axis GateGrid::around(double coordinate) const {
  const double centre = std::floor(coordinate / cell_size_);
  Axis axis;
  for (const double cell : {centre - 1, centre, centre + 1})
    if (axis.count == 0 || axis.cell[axis.count - 1] != cell) axis.cell[axis.count++] = cell;
  return axis;
}

Vec3 GateGrid::cell_of(const Vec3& p) const {
  return {std::floor(p.x / cell_size_), std::floor(p.y / cell_size_), std::floor(p.z / cell_size_)};
}

std::size_t GateGrid::bucket_of(const Vec3& cell) const {
  return static_cast<std::size_t>(mix(mix(mix(0, cell.x), cell.y), cell.z)) & mask_;
}

}  // namespace motes::tracking::detail
