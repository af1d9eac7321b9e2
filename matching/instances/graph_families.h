#pragma once
/// The families of graph_instances.h, each generated from the parameters of a recipe.

#include <array>
#include <cstdint>
#include <vector>

#include "matching/instances/graph_tools.h"
#include "matching/instances/recipe.h"

namespace motes::matching::instances {

BipartiteGraph gated_points(Recipe& recipe, int threads);
BipartiteGraph random_geometric(Recipe& recipe, int threads);
BipartiteGraph delaunay(Recipe& recipe, int threads);
BipartiteGraph grid(Recipe& recipe, int threads);
BipartiteGraph hexagonal(Recipe& recipe, int threads);
BipartiteGraph road(Recipe& recipe, int threads);
BipartiteGraph erdos_renyi(Recipe& recipe, int threads);
BipartiteGraph rmat(Recipe& recipe, int threads);
BipartiteGraph web(Recipe& recipe, int threads);

/// Where the vertices of a graph of points are, in whole steps, and the distance within which they are
/// joined.
struct Places {
  using Point = std::array<std::int64_t, 3>;
  std::vector<Point> rows, cols;
  std::int64_t gate = 0;
};

/// The places of the vertices that the same recipe gives; not permuted.
Places places_of_gated(Recipe& recipe, int threads);
Places places_of_random_geometric(Recipe& recipe, int threads);

}  // namespace motes::matching::instances
