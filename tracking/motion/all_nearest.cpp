#include "tracking/motion/all_nearest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include <motes/base/function_clones.h>

namespace motes::tracking {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kLeaf = 16;
/// A leaf is searched within kFarther times the squared distance that the leaf before needed; if that gives
/// too few points, within kAgain times more.
constexpr double kFarther = 1.05, kAgain = 2.5;

double along(const Vec3& p, std::size_t axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

struct TreeBox {
  std::array<double, 3> low{kInfinite, kInfinite, kInfinite}, high{-kInfinite, -kInfinite, -kInfinite};
};

/// A lower bound of the squared distance of points in the two boxes. It holds in floating point, since every
/// operation rounds like that of a distance.
double squared_between(const TreeBox& a, const TreeBox& b) {
  std::array<double, 3> gap;
  for (std::size_t axis = 0; axis < 3; ++axis)
    gap[axis] = std::max(std::max(a.low[axis] - b.high[axis], b.low[axis] - a.high[axis]), 0.0);
  return (gap[0] * gap[0] + gap[1] * gap[1]) + gap[2] * gap[2];
}

double squared_diagonal(const TreeBox& box) {
  double squared = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (box.high[axis] > box.low[axis])  // otherwise it is empty
      squared += (box.high[axis] - box.low[axis]) * (box.high[axis] - box.low[axis]);
  return squared;
}

/// Coordinates of points as arrays.
struct Columns {
  std::vector<double> x, y, z, number;
  std::size_t size = 0;

  explicit Columns(std::size_t most) : x(most), y(most), z(most), number(most) {}
};

MOTES_CLONES void measure(const Columns& points, std::size_t size, const Vec3& p, double* squared) {
  const double *x = points.x.data(), *y = points.y.data(), *z = points.z.data();
  for (std::size_t k = 0; k < size; ++k) {
    const double dx = x[k] - p.x, dy = y[k] - p.y, dz = z[k] - p.z;
    squared[k] = (dx * dx + dy * dy) + dz * dz;
  }
}

/// For each entry, how many come before it by distance and number.
MOTES_CLONES void places_of(const double* squared, const double* number, std::int64_t size,
                            std::int64_t* place) {
  for (std::int64_t i = 0; i < size; ++i) {
    const double d = squared[i], n = number[i];
    std::int64_t before = 0;
    for (std::int64_t k = 0; k < size; ++k)
      before += static_cast<std::int64_t>(squared[k] < d) |
                (static_cast<std::int64_t>(squared[k] == d) & static_cast<std::int64_t>(number[k] < n));
    place[i] = before;
  }
}

class Halves {
 public:
  explicit Halves(std::span<const Vec3> points) : points_(points), order_(points.size()) {
    for (std::size_t i = 0; i < points.size(); ++i) order_[i] = static_cast<std::int32_t>(i);
    leaves_ = std::bit_ceil((points.size() + kLeaf - 1) / kLeaf);
    box_.resize(2 * leaves_ - 1);
    begin_.resize(leaves_ + 1);
    begin_[leaves_] = points.size();
    build(0, 0, points.size());
    columns_of_all();
  }

  std::size_t leaves() const { return leaves_; }
  /// Numbers of a leaf's points.
  std::span<const std::int32_t> leaf(std::size_t l) const {
    return std::span(order_).subspan(begin_[l], begin_[l + 1] - begin_[l]);
  }

  /// The squared diagonal of the box of leaf l. If all its points coincide, that of the smallest box around
  /// it that is not a point; 0 if all points coincide.
  double extent(std::size_t l) const {
    double squared = 0;
    for (std::size_t node = leaves_ - 1 + l; (squared = squared_diagonal(box_[node])) == 0 && node > 0;)
      node = (node - 1) / 2;
    return squared;
  }

  /// Gathers all points within that squared distance of leaf l, and possibly others.
  void gather(std::size_t l, double squared, Columns& out) const {
    out.size = 0;
    add_near(0, box_[leaves_ - 1 + l], squared, out);
  }

 private:
  void build(std::size_t node, std::size_t begin, std::size_t end) {
    TreeBox& box = box_[node];
    for (std::size_t k = begin; k < end; ++k) {
      const Vec3& p = points_[static_cast<std::size_t>(order_[k])];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        box.low[axis] = std::min(box.low[axis], along(p, axis));
        box.high[axis] = std::max(box.high[axis], along(p, axis));
      }
    }
    if (node + 1 >= leaves_) {
      begin_[node + 1 - leaves_] = begin;
      return;
    }
    std::size_t widest = 0;
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (box.high[axis] - box.low[axis] > box.high[widest] - box.low[widest]) widest = axis;
    const std::size_t middle = begin + (end - begin) / 2;
    const auto place = [&](std::size_t k) { return order_.begin() + static_cast<std::ptrdiff_t>(k); };
    std::nth_element(place(begin), place(middle), place(end), [&](std::int32_t a, std::int32_t b) {
      return along(points_[static_cast<std::size_t>(a)], widest) <
             along(points_[static_cast<std::size_t>(b)], widest);
    });
    build(2 * node + 1, begin, middle);
    build(2 * node + 2, middle, end);
  }

  void columns_of_all() {
    for (auto* const column : {&x_, &y_, &z_, &number_}) column->resize(points_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const Vec3& p = points_[static_cast<std::size_t>(order_[k])];
      x_[k] = p.x, y_[k] = p.y, z_[k] = p.z, number_[k] = order_[k];
    }
  }

  void add_near(std::size_t node, const TreeBox& from, double squared, Columns& out) const {
    if (squared_between(box_[node], from) > squared) return;
    if (node + 1 < leaves_) {
      add_near(2 * node + 1, from, squared, out);
      add_near(2 * node + 2, from, squared, out);
      return;
    }
    const std::size_t begin = begin_[node + 1 - leaves_], end = begin_[node + 2 - leaves_];
    for (std::size_t k = begin; k < end; ++k, ++out.size) {
      out.x[out.size] = x_[k], out.y[out.size] = y_[k], out.z[out.size] = z_[k];
      out.number[out.size] = number_[k];
    }
  }

  std::span<const Vec3> points_;
  std::vector<std::int32_t> order_;         ///< points leaf after leaf
  std::vector<double> x_, y_, z_, number_;  ///< coordinates and numbers in this order
  std::size_t leaves_ = 0;                  ///< a power of two
  std::vector<TreeBox> box_;        ///< [2 leaves - 1]; the children of node n are 2 n + 1 and 2 n + 2
  std::vector<std::size_t> begin_;  ///< [leaves + 1]
};

/// Finds the neighbours of single points among the gathered ones.
class NearestSearch {
 public:
  NearestSearch(std::span<const Vec3> points, AllNearest& out)
      : points_(points),
        out_(&out),
        squared_(points.size()),
        near_(points.size() + 1),
        number_(near_.size()) {}

  /// Finds the neighbours of point i. False if there are too few within that squared distance.
  bool of(std::size_t i, const Columns& around, double within) {
    squared_.resize(around.size);
    measure(around, around.size, points_[i], squared_.data());
    std::size_t found = 0;
    for (std::size_t k = 0; k < around.size; ++k) {
      near_[found] = squared_[k];
      number_[found] = around.number[k];
      found += static_cast<std::size_t>(squared_[k] <= within);
    }
    const std::size_t count = out_->count;
    if (found < count) return false;
    if (found > 2 * count + kMore) found = nearer(found);
    // The place of each is the number of entries before it, which is faster than sorting if there are few.
    place_.resize(found);
    places_of(near_.data(), number_.data(), static_cast<std::int64_t>(found), place_.data());
    for (std::size_t k = 0; k < found; ++k) {
      const auto place = static_cast<std::size_t>(place_[k]);
      if (place < count) out_->index[i * count + place] = static_cast<std::int32_t>(number_[k]);
      if (place + 1 == count) out_->farthest[i] = near_[k];
    }
    return true;
  }

 private:
  static constexpr std::size_t kMore = 16;

  /// Removes those farther than the last one that is needed.
  std::size_t nearer(std::size_t found) {
    squared_.assign(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(found));
    const auto last = squared_.begin() + static_cast<std::ptrdiff_t>(out_->count) - 1;
    std::nth_element(squared_.begin(), last, squared_.end());
    const double within = *last;
    std::size_t kept = 0;
    for (std::size_t k = 0; k < found; ++k) {
      near_[kept] = near_[k], number_[kept] = number_[k];
      kept += static_cast<std::size_t>(near_[k] <= within);
    }
    return kept;
  }

  std::span<const Vec3> points_;
  AllNearest* out_;
  std::vector<double> squared_, near_, number_;
  std::vector<std::int64_t> place_;
};

}  // namespace

AllNearest all_nearest(std::span<const Vec3> points, std::size_t count) {
  AllNearest out;
  out.count = std::min(count, points.size());
  out.index.resize(points.size() * out.count);
  out.farthest.resize(points.size());
  if (out.count == 0) return out;
  const Halves halves(points);
  Columns around(points.size());
  NearestSearch search(points, out);
  std::vector<std::int32_t> left;
  double within = kInfinite;
  for (std::size_t l = 0; l < halves.leaves(); ++l) {
    const auto leaf = halves.leaf(l);
    left.assign(leaf.begin(), leaf.end());
    while (!left.empty()) {
      halves.gather(l, within, around);
      std::erase_if(left,
                    [&](std::int32_t i) { return search.of(static_cast<std::size_t>(i), around, within); });
      // `within` is 0 after a leaf whose points coincide with enough others.
      within = around.size == points.size() ? kInfinite : within > 0 ? kAgain * within : halves.extent(l);
    }
    within = 0;
    for (const std::int32_t i : leaf) within = std::max(within, out.farthest[static_cast<std::size_t>(i)]);
    within *= kFarther;
  }
  return out;
}

}  // namespace motes::tracking
