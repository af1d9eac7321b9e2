// Points enter one by one. The triangle that holds the new one is found by walking from the last; it is split
// in three, and sides whose far triangle has the new point inside its circle are flipped until none is left.
// What lies outside is covered too, by ghost triangles of one side of the hull and a corner at infinity
// (kFar), whose circle is the open half-plane beyond that side, and the side itself without its ends: so
// points beyond the hull, on it, and on inner sides need no special cases (a point on a side makes one flat
// triangle, which is always flipped). All predicates are exact: differences are below 2^29, minors below
// 2^59, sums below 2^121.

#include "matching/instances/triangulation.h"

#include <algorithm>

#include <motes/base/index.h>

namespace motes::matching::instances {
namespace {

__extension__ typedef __int128 Wide;

constexpr Index kFar = -1;

/// Positive where a, b, c turn left.
std::int64_t turn(const PlanePoint& a, const PlanePoint& b, const PlanePoint& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// p lies strictly inside the circle through a, b, c, which turn left.
bool in_circle(const PlanePoint& a, const PlanePoint& b, const PlanePoint& c, const PlanePoint& p) {
  const std::int64_t ax = a[0] - p[0], ay = a[1] - p[1], bx = b[0] - p[0], by = b[1] - p[1], cx = c[0] - p[0],
                     cy = c[1] - p[1];
  const Wide sum = Wide{ax * ax + ay * ay} * (bx * cy - by * cx) +
                   Wide{bx * bx + by * by} * (cx * ay - cy * ax) +
                   Wide{cx * cx + cy * cy} * (ax * by - ay * bx);
  return sum > 0;
}

/// The corner after k, counter-clockwise.
std::size_t after(std::size_t k) { return k == 2 ? 0 : k + 1; }

class Insertion {
 public:
  explicit Insertion(const std::vector<PlanePoint>& points) : points_(points) {
    triangles_.reserve(2 * points.size() + 8);
    const auto n = static_cast<Index>(points.size());
    Index second = 1, third = 2;
    while (second < n && points[at(second)] == points[0]) ++second;
    third = second + 1;
    while (third < n && turn(points[0], points[at(second)], points[at(third)]) == 0) ++third;
    if (third >= n) return;
    start(0, second, third);
    for (Index p = 1; p < n; ++p)
      if (p != second && p != third) insert(p);
  }

  /// Triangles without a corner at infinity, in order of creation, with neighbours in that numbering.
  std::vector<Triangle> finite() const {
    std::vector<Index> number(triangles_.size(), -1);
    Index count = 0;
    for (std::size_t t = 0; t < number.size(); ++t)
      if (!is_ghost(triangles_[t])) number[t] = count++;
    std::vector<Triangle> out;
    out.reserve(at(count));
    for (const Triangle& t : triangles_) {
      if (is_ghost(t)) continue;
      out.push_back(t);
      for (Index& neighbour : out.back().neighbour) neighbour = number[at(neighbour)];
    }
    return out;
  }

 private:
  static bool is_ghost(const Triangle& t) {
    return t.corner[0] == kFar || t.corner[1] == kFar || t.corner[2] == kFar;
  }
  const PlanePoint& point(Index k) const { return points_[at(k)]; }

  void start(Index a, Index b, Index c) {
    if (turn(point(a), point(b), point(c)) < 0) std::swap(b, c);
    triangles_ = {{{a, b, c}, {1, 2, 3}},
                  {{kFar, c, b}, {0, 3, 2}},
                  {{kFar, a, c}, {0, 1, 3}},
                  {{kFar, b, a}, {0, 2, 1}}};
  }

  /// A triangle whose circle holds the point, or on whose corner it lies.
  Index locate(const PlanePoint& p) const {
    Index t = last_;
    for (std::size_t k = 0; k < 3; ++k)
      if (triangles_[at(t)].corner[k] == kFar) {
        t = triangles_[at(t)].neighbour[k];
        break;
      }
    while (true) {
      const Triangle& here = triangles_[at(t)];
      if (is_ghost(here)) return t;
      std::size_t k = 0;
      while (k < 3 && turn(point(here.corner[after(k)]), point(here.corner[after(after(k))]), p) >= 0) ++k;
      if (k == 3) return t;
      t = here.neighbour[k];
    }
  }

  bool holds(const Triangle& t, const PlanePoint& p) const {
    for (std::size_t k = 0; k < 3; ++k) {
      if (t.corner[k] != kFar) continue;
      const PlanePoint &a = point(t.corner[after(k)]), &b = point(t.corner[after(after(k))]);
      const std::int64_t side = turn(a, b, p);
      if (side != 0) return side > 0;
      return (a[0] - p[0]) * (b[0] - p[0]) + (a[1] - p[1]) * (b[1] - p[1]) < 0;  // between the ends
    }
    return in_circle(point(t.corner[0]), point(t.corner[1]), point(t.corner[2]), p);
  }

  void relink(Index triangle, Index from, Index to) {
    for (Index& neighbour : triangles_[at(triangle)].neighbour)
      if (neighbour == from) {
        neighbour = to;
        return;
      }
  }

  void insert(Index p) {
    const Index t0 = locate(point(p));
    const Triangle old = triangles_[at(t0)];
    for (const Index corner : old.corner)
      if (corner != kFar && point(corner) == point(p)) return;
    const auto t1 = static_cast<Index>(triangles_.size()), t2 = t1 + 1;
    const auto [a, b, c] = old.corner;
    triangles_[at(t0)] = {{p, b, c}, {old.neighbour[0], t1, t2}};
    triangles_.push_back({{p, c, a}, {old.neighbour[1], t2, t0}});
    triangles_.push_back({{p, a, b}, {old.neighbour[2], t0, t1}});
    relink(old.neighbour[1], t0, t1);
    relink(old.neighbour[2], t0, t2);
    last_ = t0;
    open_ = {t0, t1, t2};
    while (!open_.empty()) {
      const Index t = open_.back();
      open_.pop_back();
      flip_if_needed(t);
    }
  }

  /// The new point is corner 0 of t. Where the triangle u beyond the opposite side holds it, the two become
  /// those of the other diagonal, and both have the new point as corner 0 again.
  void flip_if_needed(Index t) {
    Triangle& near = triangles_[at(t)];
    const Index u = near.neighbour[0];
    Triangle& far = triangles_[at(u)];
    const Index p = near.corner[0];
    if (!holds(far, point(p))) return;
    std::size_t k = 0;
    while (far.neighbour[k] != t) ++k;
    const Index b = near.corner[1], c = near.corner[2], d = far.corner[k];
    const Index beyond_bd = far.neighbour[after(k)], beyond_dc = far.neighbour[after(after(k))];
    const Index beyond_cp = near.neighbour[1], beyond_pb = near.neighbour[2];
    near = {{p, b, d}, {beyond_bd, u, beyond_pb}};
    far = {{p, d, c}, {beyond_dc, beyond_cp, t}};
    relink(beyond_bd, u, t);
    relink(beyond_cp, t, u);
    open_.push_back(t);
    open_.push_back(u);
  }

  const std::vector<PlanePoint>& points_;
  std::vector<Triangle> triangles_;
  std::vector<Index> open_;  ///< triangles whose outer side is to be looked at
  Index last_ = 0;
};

}  // namespace

std::vector<Triangle> delaunay_triangles(const std::vector<PlanePoint>& points) {
  if (points.size() < 3) return {};
  return Insertion(points).finite();
}

std::uint32_t hilbert_position(const PlanePoint& point) {
  constexpr int kLevels = 16;
  auto x = static_cast<std::uint32_t>(point[0] >> (kPlaneBits - kLevels)),
       y = static_cast<std::uint32_t>(point[1] >> (kPlaneBits - kLevels));
  std::uint32_t position = 0;
  for (std::uint32_t s = 1u << (kLevels - 1); s > 0; s >>= 1) {
    const bool right = (x & s) != 0, above = (y & s) != 0;
    position = position * 4 + (right ? (above ? 2 : 3) : (above ? 1 : 0));
    if (above) continue;  // the quarters below hold the curve mirrored
    if (right) {
      x = ~x;
      y = ~y;
    }
    std::swap(x, y);
  }
  return position;
}

}  // namespace motes::matching::instances
