#pragma once
/// Finds neighbours within a gate: the points of one frame, hashed by cells slightly larger than the gate.
///
/// A cell's bucket is hash(y, z) + x, so that the three cells along x lie side by side in memory and a query
/// touches nine places instead of 27. Memory is O(points), whatever the range of the coordinates.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::tracking::detail {

class GateGrid {
 public:
  GateGrid(const std::vector<Vec3>& points, double gate);

  /// Calls act(point number, distance) for every point strictly nearer than the gate, each once, in an order
  /// that depends only on the points. Expected O(1 + points in the 27 cells around).
  template <class Act>
  void for_each_within(const Vec3& at, const Act& act) const {
    if (entries_.size() <= kFew) {
      for (const Entry& entry : entries_) try_entry(entry, at, act, [](const Entry&) { return true; });
      return;
    }
    const std::size_t first_x = key(cell_of(at.x)) - 1;  // unsigned: wraps, as the buckets do
    for (const double z : cells_around(at.z))
      for (const double y : cells_around(at.y)) {
        // Rows with equal hashes share buckets; this finds the entries of one row.
        const auto in_row = [&](const Entry& entry) {
          return cell_of(entry.at.y) == y && cell_of(entry.at.z) == z;
        };
        const std::size_t row = hash(y, z) + first_x;
        for (std::size_t i = 0; i < 3; ++i) {
          const std::size_t bucket = (row + i) & mask_;
          for (std::size_t n = bucket_offsets_[bucket]; n < bucket_offsets_[bucket + 1]; ++n)
            try_entry(entries_[n], at, act, in_row);
        }
      }
  }

 private:
  static constexpr std::size_t kFew = 8;  ///< up to this many points are all compared

  struct Entry {
    Vec3 at;
    std::size_t number = 0;
  };

  /// A cell and its two neighbours on one axis; fewer beyond 2^53 cells from the origin, where c + 1 == c.
  struct Cells {
    std::array<double, 3> cell{};
    std::size_t count = 0;
    const double* begin() const { return cell.data(); }
    const double* end() const { return cell.data() + count; }
  };

  /// Cells are whole numbers held as doubles: no range to overflow.
  double cell_of(double coordinate) const { return std::floor(coordinate / cell_size_); }

  Cells cells_around(double coordinate) const {
    const double centre = cell_of(coordinate);
    Cells cells;
    for (const double cell : {centre - 1, centre, centre + 1})
      if (cells.count == 0 || cells.cell[cells.count - 1] != cell) cells.cell[cells.count++] = cell;
    return cells;
  }

  /// A cell's number; 0 for those so far out that neighbouring coordinates are a gate apart.
  static std::size_t key(double cell) {
    return std::abs(cell) < 0x1p53 ? static_cast<std::size_t>(static_cast<std::int64_t>(cell)) : 0;
  }

  static std::size_t hash(double y, double z) {
    std::uint64_t h = key(y) * 0x9E3779B97F4A7C15ULL + key(z);
    h *= 0xD6E8FEB86659FD93ULL;
    return h ^ (h >> 32);
  }

  template <class Act, class Belongs>
  void try_entry(const Entry& entry, const Vec3& at, const Act& act, const Belongs& belongs) const {
    const double dx = entry.at.x - at.x, dy = entry.at.y - at.y, dz = entry.at.z - at.z;
    const double square = dx * dx + dy * dy + dz * dz;
    if (square > square_limit_) return;
    const double distance = std::sqrt(square);
    if (distance < gate_ && belongs(entry)) act(entry.number, distance);
  }

  double gate_, cell_size_;
  double square_limit_;  ///< slightly over gate^2; avoids the square root for most entries
  std::size_t mask_ = 0;
  std::vector<std::size_t> bucket_offsets_;  ///< [mask_ + 2] into entries_
  std::vector<Entry> entries_;               ///< [points] in order of buckets
};

}  // namespace motes::tracking::detail
