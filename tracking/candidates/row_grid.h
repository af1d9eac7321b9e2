#pragma once
/// Finds the points within any radius. Points are stored in rows along x with a square cross-section, each
/// sorted by x.
///
/// Rows are found in a table of all rows between the outermost ones or, if most of these would be empty, by
/// hashing, so that points far from all others cost nothing. A query examines the rows that its ball meets,
/// and in each the part within the ball along x.

#include <algorithm>
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

  /// Points that were found. `look_at`: when there are more, the search asks for a smaller radius.
  struct Found {
    std::vector<std::int32_t> number;
    std::vector<double> squared;  ///< squared distance
    std::size_t count = 0;        ///< of valid elements; both vectors may be longer
    std::size_t look_at = 0;
  };

  /// Appends all points at most `radius` from `centre` to `found`, beginning with the row of the centre. When
  /// more than found.look_at are found, shrink(found) may remove some and returns the radius for the others.
  template <class Shrink>
  void find_within(const Vec3& centre, double radius, Found& found, const Shrink& shrink) const {
    if (entries_.empty()) return;
    const Row* const own = find(row_of(centre.y), row_of(centre.z));
    if (own != nullptr) add_near(*own, centre, radius, found, shrink);
    const double first_z = row_of(centre.z - radius), last_z = row_of(centre.z + radius);
    const double first_y = row_of(centre.y - radius), last_y = row_of(centre.y + radius);
    if (!few_rows(first_z, last_z, first_y, last_y)) {
      for (const Row& row : rows_)
        if (&row != own) add_near(row, centre, radius, found, shrink);
      return;
    }
    for (double z = first_z; z <= last_z; ++z)
      for (double y = first_y; y <= last_y; ++y)
        if (const Row* const row = find(y, z); row != nullptr && row != own)
          add_near(*row, centre, radius, found, shrink);
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
    const double apart = squared_apart(row, centre);
    if (beyond(apart, radius)) return;
    const double half = half_chord(radius, apart);
    for (auto n = first_from(row.begin, row.end, centre.x - half); n < row.end; ++n) {
      const Entry& entry = entries_[static_cast<std::size_t>(n)];
      const double dx = entry.at.x - centre.x, dy = entry.at.y - centre.y, dz = entry.at.z - centre.z;
      if (dx > half) break;
      const double squared = dx * dx + dy * dy + dz * dz;
      if (squared <= most) act(static_cast<std::size_t>(entry.number), squared);
    }
  }

  template <class Shrink>
  void add_near(const Row& row, const Vec3& centre, double& radius, Found& found,
                const Shrink& shrink) const {
    const double apart = squared_apart(row, centre);
    if (beyond(apart, radius)) return;
    auto n = row.begin, end = row.end;
    const auto narrow = [&] {
      if (end - n <= kFew) return;
      const double half = half_chord(radius, apart);
      n = first_from(n, end, centre.x - half);
      end = first_beyond(n, end, centre.x + half);
    };
    for (narrow(); n < end;) {
      const auto last = std::min(end, n + kChunk);
      const std::size_t most = found.count + kChunk;
      if (found.number.size() < most) found.number.resize(2 * most), found.squared.resize(2 * most);
      const double within = radius * radius;
      std::size_t count = found.count;
      // Whether a point is near is hard to foresee, so each is written and those that are not are
      // overwritten.
      for (; n < last; ++n) {
        const Entry& entry = entries_[static_cast<std::size_t>(n)];
        const double dx = entry.at.x - centre.x, dy = entry.at.y - centre.y, dz = entry.at.z - centre.z;
        const double squared = dx * dx + dy * dy + dz * dz;
        found.number[count] = entry.number;
        found.squared[count] = squared;
        count += squared <= within;
      }
      found.count = count;
      if (count <= found.look_at) continue;
      const double now = shrink(found);
      if (!(now < radius)) continue;
      radius = now;
      if (beyond(apart, radius)) return;
      narrow();
    }
  }

  /// A lower bound of the squared distance from `centre` to a row, along y and z.
  double squared_apart(const Row& row, const Vec3& centre) const {
    const auto along = [&](double first, double middle) {
      const double m = middle * per_width_, slack = kRounding * (std::abs(m) + std::abs(first) + 1);
      return (std::max({first - m, m - (first + 1), slack}) - slack) * width_;
    };
    const double y = along(row.y, centre.y), z = along(row.z, centre.z);
    return y * y + z * z;
  }
  static bool beyond(double apart, double radius) { return apart > radius * radius * (1 + kRounding); }
  /// How far a ball reaches along x in a row at squared distance `apart`.
  static double half_chord(double radius, double apart) {
    const double left = radius * radius * (1 + kRounding) - apart;
    return std::min(radius, std::sqrt(left));
  }

  /// The first of the entries [begin, end) of a row that is not below `x`, and that is above it.
  std::int32_t first_from(std::int32_t begin, std::int32_t end, double x) const {
    return partition(begin, end, [x](double other) { return other < x; });
  }
  std::int32_t first_beyond(std::int32_t begin, std::int32_t end, double x) const {
    return partition(begin, end, [x](double other) { return other <= x; });
  }
  template <class Below>
  std::int32_t partition(std::int32_t begin, std::int32_t end, const Below& below) const {
    while (begin < end) {
      const std::int32_t middle = begin + (end - begin) / 2;
      if (below(entries_[static_cast<std::size_t>(middle)].at.x))
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }

  /// Rows with no more entries are searched whole; most entries between two looks at the radius.
  static constexpr std::int32_t kFew = 24, kChunk = 64;
  static constexpr double kRounding = 1e-12;
  double width_ = 1, per_width_ = 1;
  std::size_t mask_ = 0;
  std::vector<Entry> entries_;                                              ///< [points] row after row
  std::vector<Row> rows_;                                                   ///< rows that are not empty
  double first_y_ = 0, first_z_ = 0, dense_columns_ = 0, dense_lines_ = 0;  ///< 0 columns: hashed
  std::vector<std::int32_t> table_;  ///< [lines][columns], or [mask_ + 1] open addressing: row, -1 none
};

}  // namespace motes::tracking
