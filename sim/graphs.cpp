#include "sim/graphs.h"

#include <array>
#include <utility>

#include "sim/detail/graph_families.h"
#include "sim/instances.h"
#include "tracking/types/errors.h"

namespace motes::sim {
namespace {

struct FamilyRow {
  std::string_view name;
  matching::BipartiteGraph (*make)(detail::Recipe&, int threads);
};

constexpr std::array<FamilyRow, 9> kFamilies{{{"gated", &detail::gated_points},
                                              {"rgg", &detail::random_geometric},
                                              {"delaunay", &detail::delaunay},
                                              {"grid", &detail::grid},
                                              {"hexagonal", &detail::hexagonal},
                                              {"road", &detail::road},
                                              {"erdos-renyi", &detail::erdos_renyi},
                                              {"rmat", &detail::rmat},
                                              {"web", &detail::web}}};

}  // namespace

matching::BipartiteGraph generate_graph(const Execution& execution, std::string_view text) {
  if (!is_generated(text)) throw UsageError("'" + std::string(text) + "' does not begin with gen:");
  detail::Recipe recipe(text);
  if (recipe.family() == "uniform" || recipe.family() == "points") {
    auto costs = generate_assignment(execution, text);
    if (auto* sparse = std::get_if<matching::SparseCosts>(&costs)) return std::move(sparse->graph);
    return matching::to_sparse(matching::view_of(costs)).graph;
  }
  const int threads = thread_count(execution);
  for (const auto& family : kFamilies) {
    if (family.name != recipe.family()) continue;
    const bool permute = recipe.flag("permute");
    const std::uint64_t seed = recipe.seed();
    matching::BipartiteGraph graph = family.make(recipe, threads);
    recipe.finish();
    if (!permute) return graph;
    return detail::renumbered(graph, detail::random_order(graph.rows, seed, detail::kRowOrder),
                              detail::random_order(graph.cols, seed, detail::kColOrder), threads);
  }
  std::string all;
  for (const auto& family : kFamilies) all += std::string(family.name) + ", ";
  recipe.fail("no family of graphs is called '" + recipe.family() + "'; there are " + all +
              "uniform and points");
}

}  // namespace motes::sim
