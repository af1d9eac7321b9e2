#pragma once
/// The families of graphs.h, each from its own parameters of a recipe.

#include "sim/detail/graph_tools.h"
#include "sim/detail/recipe.h"

namespace motes::sim::detail {

BipartiteGraph gated_points(Recipe& recipe, int threads);
BipartiteGraph random_geometric(Recipe& recipe, int threads);
BipartiteGraph delaunay(Recipe& recipe, int threads);
BipartiteGraph grid(Recipe& recipe, int threads);
BipartiteGraph hexagonal(Recipe& recipe, int threads);
BipartiteGraph road(Recipe& recipe, int threads);
BipartiteGraph erdos_renyi(Recipe& recipe, int threads);
BipartiteGraph rmat(Recipe& recipe, int threads);
BipartiteGraph web(Recipe& recipe, int threads);

}  // namespace motes::sim::detail
