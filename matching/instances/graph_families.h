#pragma once
/// Generators for the families of graph_instances.h: each makes a rank's part of the rows from the parameters
/// of a recipe.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <motes/base/execution.h>

#include "matching/instances/graph_tools.h"
#include "matching/instances/recipe.h"

namespace motes::matching::instances {

BipartiteGraph gated_points(Recipe& recipe, int threads, const Part& part);
BipartiteGraph random_geometric(Recipe& recipe, int threads, const Part& part);
BipartiteGraph delaunay(Recipe& recipe, int threads, const Part& part);
BipartiteGraph grid(Recipe& recipe, int threads, const Part& part);
BipartiteGraph hexagonal(Recipe& recipe, int threads, const Part& part);
BipartiteGraph road(Recipe& recipe, int threads, const Part& part);
BipartiteGraph erdos_renyi(Recipe& recipe, int threads, const Part& part);
BipartiteGraph rmat(Recipe& recipe, int threads, const Part& part);
BipartiteGraph web(Recipe& recipe, int threads, const Part& part);

/// The names of the families of graphs, separated by commas, for messages.
std::string graph_families();

/// All families by kind of problem, for messages about an unknown one.
std::string families_by_problem();

/// As generate_graph, but only those rows.
BipartiteGraph generate_rows(const Execution& execution, std::string_view text, const Part& part);

/// The positions of the vertices of a graph of points, in whole steps, and the distance within which they are
/// joined.
struct Places {
  using Point = std::array<std::int64_t, 3>;
  std::vector<Point> rows, cols;
  std::int64_t gate = 0;
};

/// The positions of the vertices of the recipe's graph, before any permutation.
Places places_of_gated(Recipe& recipe, int threads);
Places places_of_random_geometric(Recipe& recipe, int threads);

}  // namespace motes::matching::instances
