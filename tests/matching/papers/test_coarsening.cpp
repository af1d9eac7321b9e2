// Coarser graphs: what is kept, what is refused, hierarchies.

#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

#include <motes/matching/coarsen.h>
#include <motes/matching/matching_weight.h>
#include <motes/matching/registry.h>

#include "tests/support/weighted_graphs.h"

using namespace motes;
using matching::CoarseGraph;
using matching::GraphKind;
using matching::GreedyProblem;
using matching::Index;
using matching::Offset;

namespace {

/// The sum of the weights of all entries that join different coarse vertices.
double outer_weight(const GreedyProblem& fine, const CoarseGraph& coarse) {
  double sum = 0;
  for (Index v = 0; v < fine.graph.rows; ++v)
    for (Offset e = fine.graph.row_offsets[v]; e < fine.graph.row_offsets[v + 1]; ++e)
      if (coarse.coarse_of[v] != coarse.coarse_of[fine.graph.col_index[e]]) sum += weight_of(fine, e);
  return sum;
}

}  // namespace

TEST_CASE("a coarser graph merges pairs and sums weights") {
  // A square 0-1-2-3 with a diagonal; 0 and 2 merge, then 1 and 3 see them twice each.
  const auto square = testing::general_graph(
      5, {{0, 1, 1.0}, {1, 2, 2.0}, {2, 3, 4.0}, {3, 0, 8.0}, {0, 2, 16.0}, {1, 1, 9.0}});
  const std::vector<Index> mate{2, -1, 0, -1, -1};
  const CoarseGraph coarse = coarsen({1}, square.view(), mate, std::vector<double>{1, 2, 3, 4, 5});
  CHECK(coarse.coarse_of == std::vector<Index>{0, 1, 0, 2, 3});
  CHECK(coarse.vertex_weight == std::vector<double>{4, 2, 4, 5});
  CHECK(coarse.graph.row_offsets == std::vector<Offset>{0, 2, 3, 4, 4});
  CHECK(coarse.graph.col_index == std::vector<Index>{1, 2, 0, 0});
  CHECK(coarse.weights == std::vector<double>{3, 12, 3, 12});
}

TEST_CASE("by density a vertex prefers the lighter of two neighbours to a little more weight") {
  // Pairs 0-1 and 2-3 are joined by 5 and weigh 2 each; 4 weighs 1 and hangs on by 4.
  const auto graph = testing::general_graph(5, {{0, 1, 10.0}, {2, 3, 10.0}, {0, 2, 5.0}, {1, 4, 4.0}});
  const auto solver = matching::make_greedy_solver("greedy-suitor");
  const auto second = [&](matching::CoarsenBy by) {
    return coarsen_to({1}, graph.view(), *solver, 2, 0.95, by).at(1);
  };
  CHECK(second(matching::CoarsenBy::weight).coarse_of == std::vector<Index>{0, 0, 1});
  const CoarseGraph dense = second(matching::CoarsenBy::density);
  CHECK(dense.coarse_of == std::vector<Index>{0, 1, 0});
  CHECK(dense.weights == std::vector<double>{5, 5});
  CHECK(dense.vertex_weight == std::vector<double>{3, 2});
}

TEST_CASE("levels by density go on to a few vertices and keep all weight") {
  const auto lattice = testing::with_weights(
      [] {
        std::vector<testing::WeightedEdge> edges;
        constexpr Index kSide = 60;
        for (Index y = 0; y < kSide; ++y)
          for (Index x = 0; x < kSide; ++x) {
            if (x + 1 < kSide) edges.push_back({y * kSide + x, y * kSide + x + 1, 1.0});
            if (y + 1 < kSide) edges.push_back({y * kSide + x, (y + 1) * kSide + x, 1.0});
          }
        return testing::general_graph(kSide * kSide, edges);
      }(),
      "float", 3);
  const auto solver = matching::make_greedy_solver("greedy-suitor");
  const auto levels = coarsen_to({1}, lattice.view(), *solver, 10, 0.95, matching::CoarsenBy::density);
  const auto by_weight = coarsen_to({1}, lattice.view(), *solver, 10);
  REQUIRE(levels.size() >= 8);
  CHECK(levels.front().coarse_of == by_weight.front().coarse_of);
  CHECK(levels.back().graph.rows <= 10);
  GreedyProblem fine = lattice.view();
  for (const CoarseGraph& level : levels) {
    const auto of_level = std::get<std::span<const double>>(level.view().weights);
    CHECK(outer_weight(fine, level) == Approx(std::accumulate(of_level.begin(), of_level.end(), 0.0)));
    fine = level.view();
  }
  CHECK(coarsen_to({3}, lattice.view(), *solver, 10, 0.95, matching::CoarsenBy::density).back().weights ==
        levels.back().weights);
}

TEST_CASE("coarser graphs are sound, keep all weight, and are the same for any number of threads") {
  for (const Index n : {0, 1, 2, 3, 10, 40, 300})
    for (const auto& instance : testing::weighted_graphs(n, 1)) {
      if (instance.graph.kind != GraphKind::general) continue;
      for (const auto kind : {"unit", "double", "large int64"}) {
        INFO(instance.name << " weights " << kind);
        const auto graph = testing::with_weights(instance.graph, kind, 2);
        const auto mate =
            matching::make_greedy_solver("greedy-suitor")->solve({1}, graph.view()).matching.row_to_col;
        const CoarseGraph coarse = coarsen({1}, graph.view(), mate);
        REQUIRE_NOTHROW(matching::check_problem(coarse.view()));
        const auto pairs = (n - std::count(mate.begin(), mate.end(), -1)) / 2;
        CHECK(coarse.graph.rows == n - pairs);
        CHECK(std::accumulate(coarse.vertex_weight.begin(), coarse.vertex_weight.end(), 0.0) == n);
        for (Index v = 0; v < n; ++v)
          if (mate[v] != -1) CHECK(coarse.coarse_of[v] == coarse.coarse_of[mate[v]]);
        CHECK(std::accumulate(coarse.weights.begin(), coarse.weights.end(), 0.0) ==
              Approx(outer_weight(graph.view(), coarse)).epsilon(1e-12));
        const CoarseGraph again = coarsen({3}, graph.view(), mate);
        CHECK(again.weights == coarse.weights);
        CHECK(again.graph.col_index == coarse.graph.col_index);
        CHECK(again.graph.row_offsets == coarse.graph.row_offsets);
      }
    }
}

TEST_CASE("a hierarchy shrinks to the size asked for, or as far as it can") {
  const auto path = testing::weighted_graphs(300, 1)[3];  // a path whose weights rise
  INFO(path.name);
  const auto solver = matching::make_greedy_solver("greedy-suitor");
  const auto levels = coarsen_to({2}, path.graph.view(), *solver, 20);
  REQUIRE(!levels.empty());
  Index size = 300;
  for (const CoarseGraph& level : levels) {
    CHECK(level.coarse_of.size() == static_cast<std::size_t>(size));
    CHECK(level.graph.rows < size);
    size = level.graph.rows;
    CHECK(std::accumulate(level.vertex_weight.begin(), level.vertex_weight.end(), 0.0) == 300);
  }
  CHECK(size <= 20);
  CHECK(levels[levels.size() - 2 + (levels.size() == 1)].graph.rows > (levels.size() == 1 ? 0 : 20));
  CHECK(coarsen_to({1}, path.graph.view(), *solver, 300).empty());
  // A star loses one vertex a level: too little.
  const auto star = testing::weighted_graphs(300, 1)[2];
  CHECK(coarsen_to({1}, star.graph.view(), *solver, 20).empty());
  CHECK(coarsen_to({1}, star.graph.view(), *solver, 298, 1.0).size() == 2);
}

TEST_CASE("the end of a hierarchy is its last level, with the map of all") {
  const auto solver = matching::make_greedy_solver("greedy-suitor");
  for (const auto& instance : testing::weighted_graphs(300, 2)) {
    if (instance.graph.kind != GraphKind::general) continue;
    INFO(instance.name);
    for (const auto by : {matching::CoarsenBy::weight, matching::CoarsenBy::density}) {
      const auto levels = coarsen_to({1}, instance.graph.view(), *solver, 20, 0.95, by);
      const auto end = coarsest_of({2}, instance.graph.view(), *solver, {20, 0.95, by});
      REQUIRE(end.levels.size() == levels.size());
      for (std::size_t level = 0; level < levels.size(); ++level) {
        CHECK(end.levels[level].vertices == levels[level].graph.rows);
        CHECK(end.levels[level].entries == levels[level].graph.edges());
      }
      if (levels.empty()) {
        CHECK(end.graph.coarse_of.empty());
        continue;
      }
      CHECK(end.graph.graph.col_index == levels.back().graph.col_index);
      CHECK(end.graph.weights == levels.back().weights);
      CHECK(end.graph.vertex_weight == levels.back().vertex_weight);
      REQUIRE(end.graph.coarse_of.size() == static_cast<std::size_t>(instance.graph.graph.rows));
      for (Index v = 0; v < instance.graph.graph.rows; ++v) {
        Index coarse = v;
        for (const auto& level : levels) coarse = level.coarse_of[static_cast<std::size_t>(coarse)];
        CHECK(end.graph.coarse_of[static_cast<std::size_t>(v)] == coarse);
      }
    }
  }
}

TEST_CASE("coarsening refuses what is not a matching of the graph") {
  const auto path = testing::general_graph(4, {{0, 1, 1.0}, {1, 2, 1.0}, {2, 3, 1.0}, {3, 3, 1.0}});
  const auto fault = [&](std::vector<Index> mate, std::vector<double> vertex_weight = {}) -> std::string {
    try {
      coarsen({1}, path.view(), mate, vertex_weight);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(fault({1, 0, 3, 2}) == "none");
  CHECK(fault({1, 0, 3}) == "coarsen: there are mates of 3 vertices, but the graph has 4");
  CHECK(fault({2, -1, 0, -1}) == "coarsen: vertex 0 with mate 2: that is not an edge");
  CHECK(fault({1, 2, 1, -1}) == "coarsen: vertex 0 with mate 1: the mate has another, 2");
  CHECK(fault({4, -1, -1, -1}) == "coarsen: vertex 0 with mate 4: there is no such neighbour");
  CHECK(fault({-1, -1, -1, 3}) == "coarsen: vertex 3 with mate 3: there is no such neighbour");
  CHECK(fault({1, 0, 3, 2}, {1, 2}) == "coarsen: there are weights of 2 vertices, but the graph has 4");
  CHECK(fault({1, 0, 3, 2}, {1, 2, 3, std::nan("")}) == "coarsen: the weight of vertex 3 is not finite");
  const auto pairs = testing::bipartite_graph(2, 2, {{0, 0, 1.0}});
  CHECK_THROWS_AS(coarsen({1}, pairs.view(), std::vector<Index>{0, -1}), std::invalid_argument);
}
