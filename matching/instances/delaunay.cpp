// Meshes of random points: vertices or triangles as rows and columns.

#include <algorithm>
#include <numeric>

#include <motes/base/index.h>

#include "matching/instances/graph_families.h"
#include "matching/instances/triangulation.h"

namespace motes::matching::instances {
namespace {

/// Uniform in the square, along a Hilbert curve.
std::vector<PlanePoint> points_along_curve(std::uint64_t seed, Index n, int threads) {
  struct Placed {
    std::uint32_t position;
    PlanePoint point;
    bool operator<(const Placed& other) const {
      return position != other.position ? position < other.position : point < other.point;
    }
  };
  std::vector<Placed> placed(at(n));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index k = 0; k < n; ++k) {
    const auto bits = random_block(seed, kFirstPoints, static_cast<std::uint32_t>(k), 0);
    auto& mine = placed[at(k)];
    mine.point = {bits[0] >> (32 - kPlaneBits), bits[1] >> (32 - kPlaneBits)};
    mine.position = hilbert_position(mine.point);
  }
  std::sort(placed.begin(), placed.end());
  std::vector<PlanePoint> points(at(n));
  std::transform(placed.begin(), placed.end(), points.begin(), [](const Placed& p) { return p.point; });
  return points;
}

/// Joins neighbours along the curve: the triangulation if no three points span a triangle.
BipartiteGraph path(Index n, int threads) {
  return graph_by_rows(n, n, threads, [n](Index k, std::vector<Index>& out) {
    if (k > 0) out.push_back(k - 1);
    if (k + 1 < n) out.push_back(k + 1);
  });
}

}  // namespace

BipartiteGraph delaunay(Recipe& recipe, int threads, const Part& part) {
  const auto n = static_cast<Index>(recipe.whole("n", std::nullopt, 0, 5e8));
  const bool dual = recipe.flag("dual");
  const std::uint64_t seed = recipe.seed();
  require_graph_memory(n, 6.0 * n, 10 * sizeof(Edge));
  const auto triangles = delaunay_triangles(points_along_curve(seed, n, threads));
  const auto count = static_cast<Index>(triangles.size());
  if (dual)
    return graph_by_rows(part.of(count), count, threads, [&](Index t, std::vector<Index>& out) {
      auto neighbours = triangles[at(t)].neighbour;
      std::sort(neighbours.begin(), neighbours.end());
      for (const Index neighbour : neighbours)
        if (neighbour != -1) out.push_back(neighbour);
    });
  if (triangles.empty()) return cut_rows(path(n, threads), part.of(n));
  std::vector<Edge> edges;
  edges.reserve(3 * triangles.size() + 1024);
  for (const auto& [corner, neighbour] : triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const Index from = corner[(k + 1) % 3], to = corner[(k + 2) % 3];
      edges.push_back({from, to});
      if (neighbour[k] == -1) edges.push_back({to, from});  // else the neighbour adds the edge
    }
  return cut_rows(graph_of_edges({0, n}, n, {std::move(edges)}, threads), part.of(n));
}

}  // namespace motes::matching::instances
