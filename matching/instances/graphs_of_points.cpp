// Graphs of points that are close. Points lie on a grid of 2^28 steps a side, and squared distances are
// integers, so a pair within the gate is so on every machine.

#include <cmath>

#include <motes/base/index.h>

#include "matching/instances/graph_families.h"

namespace motes::matching::instances {
namespace {

constexpr int kSideBits = 28;
using Point = Places::Point;

std::vector<Point> uniform_points(std::uint64_t seed, RandomStream stream, const Block& which, int dims,
                                  int threads) {
  std::vector<Point> points(at(which.count));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index k = 0; k < which.count; ++k) {
    const auto bits = random_block(seed, stream, static_cast<std::uint32_t>(which.first + k), 0);
    for (std::size_t axis = 0; axis < 3; ++axis)
      points[at(k)][axis] = axis < at(dims) ? bits[axis] >> (32 - kSideBits) : 0;
  }
  return points;
}

/// The probability that two points, uniform in the unit cube (or square), are within g of each other, g in
/// [0, 1]: the volume of the ball minus the part beyond the walls.
double probability_within(double g, int dims) {
  constexpr double kPi = 3.141592653589793;
  if (dims == 2) return g * g * (kPi - g * (8.0 / 3 - g * 0.5));
  return g * g * g * (4 * kPi / 3 - g * (1.5 * kPi - g * (1.6 - g / 6)));
}

/// The smallest gate, in steps, within which a point has on average `degree` of the `others` points.
std::int64_t gate_for(Recipe& recipe, double degree, double others, int dims) {
  std::int64_t low = 0, high = std::int64_t{1} << kSideBits;
  const auto mean = [&](std::int64_t gate) {
    return others * probability_within(std::ldexp(static_cast<double>(gate), -kSideBits), dims);
  };
  if (degree > mean(high)) recipe.fail("so few points cannot have a mean degree that large");
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (mean(middle) < degree)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Cells at least a gate wide, with about one point or more each.
class Cells {
 public:
  Cells(const std::vector<Point>& points, std::int64_t gate, int dims) : dims_(dims) {
    const auto count = static_cast<std::int64_t>(points.size());
    const std::int64_t widest = gate == 0 ? count : (std::int64_t{1} << kSideBits) / gate;
    while (side_ < widest && (side_ + 1) * (side_ + 1) * (dims == 3 ? side_ + 1 : 1) <= count) ++side_;
    begin_.assign(at(side_ * side_ * (dims == 3 ? side_ : 1)) + 1, 0);
    for (const Point& p : points) ++begin_[at(cell_of(p)) + 1];
    for (std::size_t c = 1; c < begin_.size(); ++c) begin_[c] += begin_[c - 1];
    members_.resize(points.size());
    places_.resize(points.size());
    std::vector<Offset> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const std::size_t place = at(next[at(cell_of(points[k]))]++);
      members_[place] = static_cast<Index>(k);
      places_[place] = points[k];
    }
  }

  /// The points cell by cell, in ascending order within each cell.
  const std::vector<Index>& members() const { return members_; }

  /// Calls visit(index) for the points within the gate, in arbitrary order.
  template <class Visit>
  void for_near(const Point& p, std::int64_t gate, const Visit& visit) const {
    const std::int64_t x0 = std::max<std::int64_t>(along(p[0]) - 1, 0),
                       x1 = std::min(along(p[0]) + 1, side_ - 1);
    for (std::int64_t z = dims_ == 3 ? along(p[2]) - 1 : 0; z <= (dims_ == 3 ? along(p[2]) + 1 : 0); ++z)
      for (std::int64_t y = along(p[1]) - 1; y <= along(p[1]) + 1; ++y) {
        if (z < 0 || z >= side_ || y < 0 || y >= side_) continue;
        const std::int64_t line = (z * side_ + y) * side_;
        for (Offset m = begin_[at(line + x0)]; m < begin_[at(line + x1) + 1]; ++m) {
          const Point& q = places_[at(m)];
          const std::int64_t dx = p[0] - q[0], dy = p[1] - q[1], dz = p[2] - q[2];
          if (dx * dx + dy * dy + dz * dz <= gate * gate) visit(members_[at(m)]);
        }
      }
  }

 private:
  std::int64_t along(std::int64_t x) const { return (x * side_) >> kSideBits; }
  std::int64_t cell_of(const Point& p) const {
    return ((dims_ == 3 ? along(p[2]) * side_ : 0) + along(p[1])) * side_ + along(p[0]);
  }

  int dims_;
  std::int64_t side_ = 1;       ///< cells along an axis
  std::vector<Offset> begin_;   ///< [cells + 1] into the following
  std::vector<Index> members_;  ///< the points' indices by cell
  std::vector<Point> places_;   ///< the points' positions by cell
};

struct Parameters {
  Index n;
  double degree;
  int dims;
  std::uint64_t seed;
};

Parameters parameters_of(Recipe& recipe, double dims, const Part& part) {
  Parameters p{};
  p.n = static_cast<Index>(recipe.whole("n", std::nullopt, 0, kMostVertices));
  p.degree = recipe.number("degree", std::nullopt, 0, 1e6);
  p.dims = static_cast<int>(recipe.whole("dims", dims, 2, 3));
  p.seed = recipe.seed();
  const double edges = p.degree * p.n * part.share();
  require_graph_memory(p.n, edges, 5 * sizeof(Index) + 80.0 * p.n / std::max(edges, 1.0));
  return p;
}

std::vector<Index> inverse(const std::vector<Index>& order) {
  std::vector<Index> rank(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) rank[at(order[k])] = static_cast<Index>(k);
  return rank;
}

/// Row k: the neighbours of points[order[k]], for every k of `rows`, in the numbering of the other points.
/// Points in the order of cells have neighbourhoods that stay in cache.
BipartiteGraph pairs_by_cell(const std::vector<Point>& points, const std::vector<Index>& order,
                             const Block& rows, const Cells& others, Index cols, std::int64_t gate,
                             bool same_set, int threads) {
  return graph_by_rows(rows, cols, threads, [&](Index k, std::vector<Index>& out) {
    const Index i = order[at(k)];
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    others.for_near(points[at(i)], gate, [&](Index j) {
      if (!same_set || i != j) out.push_back(j);
    });
    std::sort(out.begin() + first, out.end());
  });
}

}  // namespace

BipartiteGraph gated_points(Recipe& recipe, int threads, const Part& part) {
  const Parameters p = parameters_of(recipe, 3, part);
  const Block mine = part.of(p.n);
  const auto from = uniform_points(p.seed, kFirstPoints, mine, p.dims, threads),
             to = uniform_points(p.seed, kSecondPoints, {0, p.n}, p.dims, threads);
  const std::int64_t gate = gate_for(recipe, p.degree, p.n, p.dims);
  const auto order = Cells(from, gate, p.dims).members();
  const auto pairs =
      pairs_by_cell(from, order, {0, mine.count}, Cells(to, gate, p.dims), p.n, gate, false, threads);
  return renumbered(pairs, inverse(order), {}, threads);
}

BipartiteGraph random_geometric(Recipe& recipe, int threads, const Part& part) {
  const Parameters p = parameters_of(recipe, 2, part);
  const auto points = uniform_points(p.seed, kFirstPoints, {0, p.n}, p.dims, threads);
  const std::int64_t gate = gate_for(recipe, p.degree, std::max(p.n - 1, 0), p.dims);
  const Cells cells(points, gate, p.dims);
  const auto& order = cells.members();
  const auto pairs = pairs_by_cell(points, order, part.of(p.n), cells, p.n, gate, true, threads);
  return renumbered(pairs, {}, inverse(order), threads);
}

Places places_of_gated(Recipe& recipe, int threads) {
  const Parameters p = parameters_of(recipe, 3, {});
  return {uniform_points(p.seed, kFirstPoints, {0, p.n}, p.dims, threads),
          uniform_points(p.seed, kSecondPoints, {0, p.n}, p.dims, threads),
          gate_for(recipe, p.degree, p.n, p.dims)};
}

Places places_of_random_geometric(Recipe& recipe, int threads) {
  const Parameters p = parameters_of(recipe, 2, {});
  const auto points = uniform_points(p.seed, kFirstPoints, {0, p.n}, p.dims, threads);
  const std::int64_t gate = gate_for(recipe, p.degree, std::max(p.n - 1, 0), p.dims);
  Places places{{}, {}, gate};
  const Cells cells(points, gate, p.dims);
  for (const Index k : cells.members()) places.rows.push_back(points[at(k)]);
  places.cols = places.rows;
  return places;
}

}  // namespace motes::matching::instances
