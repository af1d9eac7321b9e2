#include "tracking/candidates/row_grid.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include <motes/base/hash.h>

namespace motes::tracking {

RowGrid::RowGrid(std::span<const Vec3> points, double width)
    : width_(width > 0 && std::isfinite(width) && std::isfinite(1 / width) ? width : 1),
      per_width_(1 / width_) {
  struct Placed {
    double y, z;
    Entry entry;
  };
  std::vector<Placed> placed;
  placed.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    placed.push_back({row_of(points[i].y), row_of(points[i].z), {points[i], static_cast<std::int32_t>(i)}});
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.z, a.y, a.entry.at.x, a.entry.number) <
           std::tie(b.z, b.y, b.entry.at.x, b.entry.number);
  });
  entries_.reserve(points.size());
  for (const Placed& p : placed) {
    const auto place = static_cast<std::int32_t>(entries_.size());
    if (rows_.empty() || rows_.back().y != p.y || rows_.back().z != p.z)
      rows_.push_back({p.y, p.z, place, place});
    rows_.back().end = place + 1;
    entries_.push_back(p.entry);
  }
  if (make_dense_table()) return;
  mask_ = std::bit_ceil(2 * rows_.size() + 1) - 1;
  table_.assign(mask_ + 1, -1);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::size_t place = hash(rows_[r].y, rows_[r].z) & mask_;
    while (table_[place] >= 0) place = (place + 1) & mask_;
    table_[place] = static_cast<std::int32_t>(r);
  }
}

std::size_t RowGrid::hash(double y, double z) {
  const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v == 0 ? 0.0 : v); };
  return splitmix64_finaliser(bits(y) * 0x9E3779B97F4A7C15ULL + bits(z));
}

bool RowGrid::make_dense_table() {
  constexpr double kMostPerRow = 8, kSmall = 256;
  if (rows_.empty()) return false;
  double last_y = rows_.front().y;
  first_y_ = last_y, first_z_ = rows_.front().z;
  for (const Row& row : rows_) first_y_ = std::min(first_y_, row.y), last_y = std::max(last_y, row.y);
  const double columns = last_y - first_y_ + 1, lines = rows_.back().z - first_z_ + 1;
  if (!(columns * lines <= kMostPerRow * static_cast<double>(rows_.size()) + kSmall)) return false;
  // Beyond the integers that doubles represent exactly, rows cannot be counted.
  if (!(std::abs(first_y_) < 0x1p50 && std::abs(first_z_) < 0x1p50)) return false;
  dense_columns_ = columns, dense_lines_ = lines;
  table_.assign(static_cast<std::size_t>(columns * lines), -1);
  for (std::size_t r = 0; r < rows_.size(); ++r)
    table_[static_cast<std::size_t>((rows_[r].z - first_z_) * columns + (rows_[r].y - first_y_))] =
        static_cast<std::int32_t>(r);
  return true;
}

const RowGrid::Row* RowGrid::find_by_hash(double y, double z) const {
  for (std::size_t place = hash(y, z) & mask_; table_[place] >= 0; place = (place + 1) & mask_)
    if (const Row& row = rows_[static_cast<std::size_t>(table_[place])]; row.y == y && row.z == z)
      return &row;
  return nullptr;
}

}  // namespace motes::tracking
