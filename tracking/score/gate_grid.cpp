#include "tracking/score/gate_grid.h"

#include <bit>

namespace motes::tracking::detail {
namespace {

/// Cells are larger than the gate by this factor, so that rounding of coordinate / size cannot put points
/// within the gate two cells apart.
constexpr double kSlack = 1 + 1e-6;

}  // namespace

GateGrid::GateGrid(const std::vector<Vec3>& points, double gate)
    : gate_(gate), cell_size_(gate * kSlack), square_limit_(gate * gate * kSlack) {
  mask_ = std::bit_ceil(points.size() + 1) - 1;
  std::vector<std::size_t> bucket;
  bucket.reserve(points.size());
  for (const Vec3& p : points)
    bucket.push_back((hash(cell_of(p.y), cell_of(p.z)) + key(cell_of(p.x))) & mask_);

  bucket_offsets_.assign(mask_ + 2, 0);
  for (const std::size_t b : bucket) ++bucket_offsets_[b + 1];
  for (std::size_t b = 1; b < bucket_offsets_.size(); ++b) bucket_offsets_[b] += bucket_offsets_[b - 1];
  entries_.resize(points.size());
  std::vector<std::size_t> next(bucket_offsets_.begin(), bucket_offsets_.end() - 1);
  for (std::size_t i = 0; i < points.size(); ++i) entries_[next[bucket[i]]++] = {points[i], i};
}

}  // namespace motes::tracking::detail
