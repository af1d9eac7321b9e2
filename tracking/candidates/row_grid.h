#pragma once
/// Finds the points within any radius. Points are stored in rows along x with a square cross-section, each
/// sorted by x.
///
/// Rows are found in a table of all rows between the outermost ones or, if most of these would be empty, by
/// hashing, so that points far from all others cost nothing. A query examines the rows that its ball meets,
/// and in each the part within the ball along x.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::tracking {

class RowGrid {
 public:
  RowGrid() = default;
  /// `width` of the rows: about the radius of most queries is fastest. O(points log points).
  RowGrid(std::span<const Vec3> points, double width);

  /// Calls act(point number, squared distance) for every point at most `radius` from `centre`. Expected
  /// O(rows that the ball meets + points of these within the ball along x).
  template <class Act>
  void for_each_within(const Vec3& centre, double radius, const Act& act) const {
    if (entries_.empty()) return;
    const double most = radius * radius;
    const double first_z = row_of(centre.z - radius), last_z = row_of(centre.z + radius);
    const double first_y = row_of(centre.y - radius), last_y = row_of(centre.y + radius);
    if (!few_rows(first_z, last_z, first_y, last_y)) {
      for (const Row& row : rows_) scan(row, centre, radius, most, act);
      return;
    }
    for (double z = first_z; z <= last_z; ++z)
      for (double y = first_y; y <= last_y; ++y)
        if (const Row* const row = find(y, z)) scan(*row, centre, radius, most, act);
  }

  /// The same with a radius that shrinks during the search: act returns the new radius. Begins with the row
  /// of the centre.
  template <class Act>
  void for_each_within_falling(const Vec3& centre, double radius, const Act& act) const {
    if (entries_.empty()) return;
    const Row* const own = find(row_of(centre.y), row_of(centre.z));
    if (own != nullptr) scan_falling(*own, centre, radius, act);
    const double begun = radius;
    const auto outside = [&](double row, double middle) {
      return radius < begun && !(row >= row_of(middle - radius) && row <= row_of(middle + radius));
    };
    const double first_z = row_of(centre.z - radius), last_z = row_of(centre.z + radius);
    const double first_y = row_of(centre.y - radius), last_y = row_of(centre.y + radius);
    if (!few_rows(first_z, last_z, first_y, last_y)) {
      for (const Row& row : rows_)
        if (&row != own && !outside(row.z, centre.z) && !outside(row.y, centre.y))
          scan_falling(row, centre, radius, act);
      return;
    }
    for (double z = first_z; z <= last_z; ++z) {
      if (outside(z, centre.z)) continue;
      for (double y = first_y; y <= last_y; ++y) {
        if (outside(y, centre.y)) continue;
        if (const Row* const row = find(y, z); row != nullptr && row != own)
          scan_falling(*row, centre, radius, act);
      }
    }
  }

  std::size_t bytes() const {
    return entries_.capacity() * sizeof(Entry) + rows_.capacity() * sizeof(Row) +
           table_.capacity() * sizeof(std::int32_t);
  }

 private:
  struct Entry {
    Vec3 at;
    std::int32_t number = 0;
  };
  struct Row {
    double y = 0, z = 0;  ///< integers stored as doubles, so that they cannot overflow
    std::int32_t begin = 0, end = 0;
  };

  /// Whether the ball meets fewer rows than exist. False also if it is so far out that rows cannot be
  /// counted. If false, the search examines all rows.
  bool few_rows(double first_z, double last_z, double first_y, double last_y) const {
    const double far = std::abs(first_y) + std::abs(last_y) + std::abs(first_z) + std::abs(last_z);
    return far < 0x1p50 &&
           (last_z - first_z + 1) * (last_y - first_y + 1) < static_cast<double>(rows_.size());
  }
  double row_of(double coordinate) const { return std::floor(coordinate * per_width_); }
  static std::size_t hash(double y, double z);
  const Row* find(double y, double z) const {
    if (dense_columns_ == 0) return find_by_hash(y, z);
    y -= first_y_, z -= first_z_;
    if (!(y >= 0 && z >= 0 && y < dense_columns_ && z < dense_lines_)) return nullptr;
    const std::int32_t row = table_[static_cast<std::size_t>(z * dense_columns_ + y)];
    return row < 0 ? nullptr : &rows_[static_cast<std::size_t>(row)];
  }
  const Row* find_by_hash(double y, double z) const;
  bool make_dense_table();

  template <class Act>
  void scan(const Row& row, const Vec3& centre, double radius, double most, const Act& act) const {
    for (auto n = first_from(row.begin, row.end, centre.x - radius); n < row.end; ++n) {
      const Entry& entry = entries_[static_cast<std::size_t>(n)];
      const double dx = entry.at.x - centre.x, dy = entry.at.y - centre.y, dz = entry.at.z - centre.z;
      if (dx > radius) break;
      const double squared = dx * dx + dy * dy + dz * dz;
      if (squared <= most) act(static_cast<std::size_t>(entry.number), squared);
    }
  }

  template <class Act>
  void scan_falling(const Row& row, const Vec3& centre, double& radius, const Act& act) const {
    for (auto n = first_from(row.begin, row.end, centre.x - radius); n < row.end;) {
      const Entry& entry = entries_[static_cast<std::size_t>(n++)];
      const double dx = entry.at.x - centre.x, dy = entry.at.y - centre.y, dz = entry.at.z - centre.z;
      if (dx > radius) break;
      const double squared = dx * dx + dy * dy + dz * dz;
      if (!(squared <= radius * radius)) continue;
      const double now = act(static_cast<std::size_t>(entry.number), squared);
      if (now < radius) radius = now, n = first_from(n, row.end, centre.x - radius);
    }
  }

  /// The first of the entries [begin, end) of a row that is not below `x`.
  std::int32_t first_from(std::int32_t begin, std::int32_t end, double x) const {
    while (begin < end) {
      const std::int32_t middle = begin + (end - begin) / 2;
      if (entries_[static_cast<std::size_t>(middle)].at.x < x)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }

  double per_width_ = 1;
  std::size_t mask_ = 0;
  std::vector<Entry> entries_;                                              ///< [points] row after row
  std::vector<Row> rows_;                                                   ///< rows that are not empty
  double first_y_ = 0, first_z_ = 0, dense_columns_ = 0, dense_lines_ = 0;  ///< 0 columns: hashed
  std::vector<std::int32_t> table_;  ///< [lines][columns], or [mask_ + 1] open addressing: row, -1 none
};

}  // namespace motes::tracking
