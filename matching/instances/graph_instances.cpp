/// The table of graph families, and weights, permutations and conversions that apply to all of them.

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include <motes/base/errors.h>
#include <motes/base/index.h>
#include <motes/matching/cardinality_problem.h>
#include <motes/matching/graph_instances.h>
#include <motes/matching/instances.h>

#include "matching/instances/graph_families.h"
#include "matching/instances/structured_matrices.h"

namespace motes::matching {
namespace {

struct FamilyRow {
  std::string_view name;
  BipartiteGraph (*make)(instances::Recipe&, int threads, const instances::Part&);
  bool undirected;  ///< the matrix of an undirected graph, which is symmetric
  instances::Places (*places)(instances::Recipe&, int threads) = nullptr;
};

constexpr std::array<FamilyRow, 9> kFamilies{
    {{"gated", &instances::gated_points, false, &instances::places_of_gated},
     {"rgg", &instances::random_geometric, true, &instances::places_of_random_geometric},
     {"delaunay", &instances::delaunay, true},
     {"grid", &instances::grid, true},
     {"hexagonal", &instances::hexagonal, true},
     {"road", &instances::road, true},
     {"erdos-renyi", &instances::erdos_renyi, false},
     {"rmat", &instances::rmat, false},
     {"web", &instances::web, false}}};

/// The table entry of the recipe's family; nullptr for the families of instances.h.
const FamilyRow* family_of(const instances::Recipe& recipe) {
  if (recipe.family() == "uniform" || recipe.family() == "points") return nullptr;
  for (const auto& family : kFamilies)
    if (family.name == recipe.family()) return &family;
  recipe.fail("no family of graphs is called '" + recipe.family() + "'; " + instances::families_by_problem());
}

BipartiteGraph structure_of_instance(const Execution& execution, std::string_view text) {
  auto costs = generate_assignment(execution, text);
  if (auto* sparse = std::get_if<SparseCosts>(&costs)) return std::move(sparse->graph);
  return to_sparse(view_of(costs)).graph;
}

std::vector<Index> inverse(const std::vector<Index>& order) {
  std::vector<Index> back(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) back[at(order[k])] = static_cast<Index>(k);
  return back;
}

/// The union of a square graph and its transpose, without (i, i).
BipartiteGraph undirected(const BipartiteGraph& graph, int threads) {
  const auto columns = transpose(graph.view(), threads);
  return instances::graph_by_rows(graph.rows, graph.cols, threads, [&](Index i, std::vector<Index>& out) {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    const auto of = [&](const auto& offsets, const auto& list) {
      return std::pair(list.begin() + offsets[at(i)], list.begin() + offsets[at(i) + 1]);
    };
    const auto [a, a_end] = of(graph.row_offsets, graph.col_index);
    const auto [b, b_end] = of(columns.col_offsets, columns.row_index);
    std::set_union(a, a_end, b, b_end, std::back_inserter(out));
    out.erase(std::remove(out.begin() + first, out.end(), i), out.end());
  });
}

/// [nnz] weight(i, j) of every entry.
template <class Weight>
std::vector<float> weights_of_entries(const BipartiteGraph& graph, int threads, const Weight& weight) {
  std::vector<float> weights(graph.col_index.size());
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index i = 0; i < graph.rows; ++i)
    for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e)
      weights[at(e)] = weight(i, graph.col_index[at(e)]);
  return weights;
}

/// A weight in steps of 2^-24, which is exact in a float.
float random_weight(std::uint64_t seed, Index i, Index j) {
  const auto bits =
      random_block(seed, instances::kWeights, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
  return std::ldexp(static_cast<float>(bits[0] >> 8), -24);
}

/// Squared distances are integers below 2^58, and a square root has the same bits on every machine.
float closeness(const instances::Places::Point& p, const instances::Places::Point& q, std::int64_t gate) {
  std::int64_t squared = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) squared += (p[axis] - q[axis]) * (p[axis] - q[axis]);
  if (squared == 0) return 1;
  return static_cast<float>(1 - std::sqrt(static_cast<double>(squared)) / static_cast<double>(gate));
}

}  // namespace

std::string instances::graph_families() {
  std::string out;
  for (const auto& family : kFamilies) out += (out.empty() ? "" : ", ") + std::string(family.name);
  return out;
}

std::string instances::families_by_problem() {
  return "families for assignment: uniform, points, " + structured_families() +
         "; for --problem cardinality or greedy: " + graph_families() +
         "; for --problem cardinality also uniform and points";
}

BipartiteGraph instances::generate_rows(const Execution& execution, std::string_view text, const Part& part) {
  if (!is_generated(text)) throw UsageError("'" + std::string(text) + "' does not begin with gen:");
  instances::Recipe recipe(text);
  const FamilyRow* family = family_of(recipe);
  if (family == nullptr) {
    BipartiteGraph whole = structure_of_instance(execution, text);
    const Block mine = part.of(whole.rows);
    return cut_rows(std::move(whole), mine);
  }
  const int threads = thread_count(execution);
  const bool permute = recipe.flag("permute");
  const std::uint64_t seed = recipe.seed();
  BipartiteGraph graph = family->make(recipe, threads, permute ? Part{} : part);
  recipe.finish();
  if (!permute) return graph;
  const auto rows_from = random_order(graph.rows, seed, kRowOrder),
             cols_to = random_order(graph.cols, seed, kColOrder);
  return cut_rows(renumbered(graph, rows_from, cols_to, threads), part.of(graph.rows));
}

BipartiteGraph generate_graph(const Execution& execution, std::string_view text) {
  return instances::generate_rows(execution, text, {});
}

WeightedGraph generate_weighted_graph(const Execution& execution, std::string_view text) {
  if (!is_generated(text)) throw UsageError("'" + std::string(text) + "' does not begin with gen:");
  instances::Recipe recipe(text);
  const FamilyRow* family = family_of(recipe);
  if (family == nullptr) recipe.fail("weighted graphs come from " + instances::graph_families());
  const int threads = thread_count(execution);
  const auto permutation = static_cast<std::uint64_t>(recipe.whole("permute", 0, 0, 1e6));
  const bool general = recipe.flag("general"), join_both = recipe.flag("undirected");
  const std::uint64_t seed = recipe.seed();
  const std::string weights = recipe.word("weights", "random");
  if (weights != "random" && weights != "unit" && weights != "distance")
    recipe.fail("weights=" + weights + ": it takes random, unit or distance");
  if (weights == "distance" && family->places == nullptr)
    recipe.fail("weights=distance is for gated and rgg; others have no places");
  if (weights == "distance" && join_both && !family->undirected)
    recipe.fail("weights=distance: rows and columns are different points, which undirected=1 would make one");
  WeightedGraph out;
  out.graph = family->make(recipe, threads, {});
  const instances::Places places =
      weights == "distance" ? family->places(recipe, threads) : instances::Places{};
  recipe.finish();
  if (join_both && out.graph.rows != out.graph.cols)
    recipe.fail("undirected=1 is for as many rows as columns");
  const bool one_set = join_both || (general && family->undirected);
  if (join_both && !family->undirected) out.graph = undirected(out.graph, threads);
  out.kind = one_set ? GraphKind::general : GraphKind::bipartite;
  std::vector<Index> row_was, col_was;  // a vertex's number before the permutation; empty: unchanged
  if (permutation != 0) {
    const std::uint64_t order_seed = seed + ((permutation - 1) << 32);
    row_was = instances::random_order(out.graph.rows, order_seed, instances::kRowOrder);
    col_was = one_set ? row_was : instances::random_order(out.graph.cols, order_seed, instances::kColOrder);
    out.graph = instances::renumbered(out.graph, row_was, inverse(col_was), threads);
  }
  const auto was = [](const std::vector<Index>& before, Index k) {
    return before.empty() ? k : before[at(k)];
  };
  if (weights == "random")
    out.weights = weights_of_entries(out.graph, threads, [&](Index row, Index col) {
      const Index i = was(row_was, row), j = was(col_was, col);
      return one_set ? random_weight(seed, std::min(i, j), std::max(i, j)) : random_weight(seed, i, j);
    });
  else if (weights == "distance")
    out.weights = weights_of_entries(out.graph, threads, [&](Index row, Index col) {
      return closeness(places.rows[at(was(row_was, row))], places.cols[at(was(col_was, col))], places.gate);
    });
  if (general && !one_set) return to_general(out.view(), threads);
  return out;
}

}  // namespace motes::matching
