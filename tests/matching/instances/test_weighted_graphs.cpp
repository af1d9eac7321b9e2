// Generated graphs with weights, bipartite and general.

#include <cmath>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/matching/graph_instances.h>

using namespace motes;
using matching::generate_weighted_graph;
using matching::GraphKind;
using matching::Index;
using matching::Offset;
using matching::WeightedGraph;

namespace {

const std::vector<float>& floats(const WeightedGraph& graph) {
  return std::get<std::vector<float>>(graph.weights);
}

}  // namespace

TEST_CASE("weighted graphs are sound, of the kind asked for, and the same for any number of threads") {
  for (const std::string family :
       {"gated?n=2000&degree=6", "rgg?n=2000&degree=6", "delaunay?n=1000", "delaunay?n=1000&dual=1",
        "grid?nx=40&ny=30", "hexagonal?nx=40&ny=30", "road?n=2000", "erdos-renyi?rows=900&cols=1100&degree=3",
        "rmat?scale=10&edges=6", "web?n=2000"})
    for (const std::string more : {"", "&general=1", "&general=1&permute=1", "&permute=1", "&weights=unit"}) {
      INFO(family << more);
      const std::string text = "gen:" + family + more;
      const WeightedGraph graph = generate_weighted_graph({1}, text);
      CHECK((graph.kind == GraphKind::general) == (more.find("general") != std::string::npos));
      REQUIRE_NOTHROW(matching::check_problem(graph.view()));
      CHECK(floats(graph).empty() == (more == "&weights=unit"));
      const WeightedGraph again = generate_weighted_graph({3}, text);
      CHECK(again.graph.row_offsets == graph.graph.row_offsets);
      CHECK(again.graph.col_index == graph.graph.col_index);
      CHECK(again.weights == graph.weights);
      if (more.empty()) {
        const auto structure = matching::generate_graph({1}, text);
        CHECK(structure.col_index == graph.graph.col_index);
      }
    }
}

TEST_CASE("undirected=1 joins what either direction lists") {
  const auto one = matching::generate_graph({1}, "gen:rmat?scale=8&edges=3");
  const auto both = generate_weighted_graph({1}, "gen:rmat?scale=8&edges=3&undirected=1");
  CHECK(both.kind == GraphKind::general);
  CHECK(both.graph.rows == one.rows);
  REQUIRE_NOTHROW(matching::check_problem(both.view()));
  const auto has = [](const matching::BipartiteGraph& graph, Index i, Index j) {
    return std::binary_search(graph.col_index.begin() + graph.row_offsets[i],
                              graph.col_index.begin() + graph.row_offsets[i + 1], j);
  };
  for (Index i = 0; i < one.rows; ++i)
    for (Index j = 0; j < one.rows; ++j)
      REQUIRE(has(both.graph, i, j) == (i != j && (has(one, i, j) || has(one, j, i))));
}

TEST_CASE("distance weights fall with the distance, wherever points are numbered") {
  for (const std::string text :
       {"gen:gated?n=500&degree=6&weights=distance", "gen:rgg?n=500&degree=6&weights=distance&general=1"}) {
    INFO(text);
    const WeightedGraph graph = generate_weighted_graph({1}, text);
    double sum = 0;
    for (const float weight : floats(graph)) {
      CHECK((weight >= 0 && weight <= 1));
      sum += weight;
    }
    // Uniform in the ball (or disc): the mean distance is 3/4 (2/3) of the gate; walls make no difference
    // here.
    const double expected = text.find("gated") != std::string::npos ? 0.25 : 1.0 / 3;
    CHECK(sum / static_cast<double>(floats(graph).size()) == Approx(expected).margin(0.02));
    // The same weights, in another order.
    auto permuted = floats(generate_weighted_graph({1}, text + "&permute=1"));
    auto plain = floats(graph);
    std::sort(permuted.begin(), permuted.end());
    std::sort(plain.begin(), plain.end());
    CHECK(permuted == plain);
  }
}

TEST_CASE("permutations renumber a weighted graph and keep its edges") {
  for (const std::string text :
       {"gen:road?n=300&general=1", "gen:gated?n=300&degree=4", "gen:web?n=300&undirected=1"}) {
    auto weights = floats(generate_weighted_graph({1}, text));
    std::sort(weights.begin(), weights.end());
    std::vector<std::vector<Index>> lists;
    for (const std::string more : {"&permute=1", "&permute=2", "&permute=32"}) {
      INFO(text << more);
      const auto graph = generate_weighted_graph({1}, text + more);
      REQUIRE_NOTHROW(matching::check_problem(graph.view()));
      auto permuted = floats(graph);
      std::sort(permuted.begin(), permuted.end());
      CHECK(permuted == weights);
      for (const auto& other : lists) CHECK(graph.graph.col_index != other);
      lists.push_back(graph.graph.col_index);
    }
  }
}

TEST_CASE("weighted graphs refuse what makes no sense") {
  const auto fault = [](const std::string& text) -> std::string {
    try {
      generate_weighted_graph({1}, text);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "none";
  };
  CHECK_THAT(fault("gen:grid?nx=4&weights=distance"), Catch::Contains("gated and rgg"));
  CHECK_THAT(fault("gen:grid?nx=4&weights=heavy"), Catch::Contains("random, unit or distance"));
  CHECK_THAT(fault("gen:erdos-renyi?rows=4&cols=5&degree=1&undirected=1"), Catch::Contains("as many rows"));
  CHECK_THAT(fault("gen:gated?n=50&degree=4&weights=distance&undirected=1"), Catch::Contains("distance"));
  CHECK_THAT(fault("gen:points?n=4"), Catch::Contains("gated"));
  CHECK_THAT(fault("gen:gritty?nx=4"), Catch::Contains("gritty"));
  CHECK_THAT(fault("gen:grid?nx=4&wieghts=unit"), Catch::Contains("wieghts"));
  CHECK_THAT(fault("grid?nx=4"), Catch::Contains("gen:"));
}
