// Faults for which greedy problems are refused, and conversion to general graphs.

#include <algorithm>
#include <limits>
#include <utility>

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>

#include "matching/greedy/edge_order.h"
#include "matching/greedy/symmetry.h"
#include "matching/greedy/weight_keys.h"
#include "tests/support/weighted_graphs.h"

using namespace motes;
using matching::GraphKind;
using matching::GreedyProblem;
using matching::Index;
using matching::Offset;
using matching::WeightedGraph;

namespace {

std::string fault_of(const GreedyProblem& problem, int threads = 1) {
  try {
    matching::check_problem(problem, threads);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("greedy problems with faults are refused, naming the first") {
  const auto sound = testing::general_graph(4, {{0, 1, 1.0}, {1, 2, 2.0}, {3, 3, 5.0}, {2, 3, 0.0}});
  REQUIRE(fault_of(sound.view()) == "none");
  const auto with = [&](auto change) {
    WeightedGraph graph = sound;
    change(graph, std::get<std::vector<double>>(graph.weights));
    const std::string fault = fault_of(graph.view());
    CHECK(fault_of(graph.view(), 3) == fault);
    CHECK_THROWS_AS(matching::make_greedy_solver("greedy-suitor")->solve({1}, graph.view()),
                    std::invalid_argument);
    return fault;
  };
  using Weights = std::vector<double>;
  CHECK(with([](auto&, Weights& w) { w[1] = kNan; }) ==
        "weights: that of row 1, column 0 is not a number; weights are finite and not below 0");
  CHECK(with([](auto&, Weights& w) { w[0] = -kInfinity; }) ==
        "weights: that of row 0, column 1 is infinite; weights are finite and not below 0");
  CHECK(with([](auto&, Weights& w) { w[3] = -0.5; }) ==
        "weights: that of row 2, column 1 is -0.5; weights are finite and not below 0");
  CHECK(with([](auto&, Weights& w) { w[0] = 7; }) ==
        "graph: the edge of vertices 0 and 1 has two weights, 7 and 1");
  CHECK(with([](auto&, Weights& w) { w.pop_back(); }) ==
        "weights: there are 6 of them, not one per entry (7)");
  CHECK(with([](WeightedGraph& g, Weights&) { g.graph.cols = 5; }) ==
        "graph: a general graph has as many columns as rows, not 4 x 5");
  CHECK(
      with([](WeightedGraph& g, Weights&) { g.graph.col_index[2] = 3; }) ==
      "graph: the edge of vertices 1 and 3 is listed from 1 only; a general graph lists each edge from both "
      "ends");
  CHECK_THAT(with([](WeightedGraph& g, Weights&) { g.graph.col_index[2] = 0; }), Catch::Contains("row 1"));
  CHECK_THAT(with([](WeightedGraph& g, Weights&) { g.graph.col_index[0] = 4; }), Catch::Contains("row 0"));
  CHECK_THAT(with([](WeightedGraph& g, Weights&) { g.graph.row_offsets[1] = 9; }), Catch::Contains("row"));
  CHECK_THAT(with([](WeightedGraph& g, Weights&) { g.graph.row_offsets.pop_back(); }),
             Catch::Contains("row_offsets"));
  // Whole numbers that a double cannot tell apart.
  auto whole = testing::general_graph(2, {{0, 1, 1.0}});
  whole.weights = std::vector<std::int64_t>{(std::int64_t{1} << 60) + 1, std::int64_t{1} << 60};
  CHECK_THAT(fault_of(whole.view()), Catch::Contains("two weights, 1152921504606846977 and"));
  whole.weights = std::vector<std::int64_t>{-3, -3};
  CHECK_THAT(fault_of(whole.view()), Catch::Contains("is -3;"));
  // A bipartite graph need not be symmetric, and its entries (k, k) are edges.
  auto pairs = testing::bipartite_graph(2, 3, {{0, 0, 1.0}, {1, 2, 2.0}});
  CHECK(fault_of(pairs.view()) == "none");
  pairs.weights = std::vector<float>{1.0f, -1.0f};
  CHECK_THAT(fault_of(pairs.view()), Catch::Contains("row 1, column 2 is -1"));
  CHECK(fault_of(GreedyProblem{}) != "none");  // not even one offset
}

TEST_CASE("an edge of one direction is found wherever it is") {
  for (const auto& instance : testing::weighted_graphs(50, 3)) {
    if (instance.graph.kind != GraphKind::general) continue;
    auto graph = testing::with_weights(instance.graph, "float", 1);
    auto& weights = std::get<std::vector<float>>(graph.weights);
    for (Index v = 0; v < graph.graph.rows; ++v)
      for (Offset e = graph.graph.row_offsets[v]; e < graph.graph.row_offsets[v + 1]; ++e) {
        if (graph.graph.col_index[e] == v) continue;
        INFO(instance.name << " entry " << e);
        const float before = weights[e];
        weights[e] = std::nextafter(before, 2.0f);
        REQUIRE_THAT(fault_of(graph.view()), Catch::Contains("two weights"));
        weights[e] = before;
      }
    CHECK(fault_of(graph.view()) == "none");
  }
}

TEST_CASE("edges from both ends balance for any type of weights, one changed weight or end does not") {
  for (const Index n : {1, 2, 7, 40, 3000})  // the last: more entries than a run has
    for (const auto& instance : testing::weighted_graphs(n, 4)) {
      const auto& offsets = instance.graph.graph.row_offsets;
      if (instance.graph.kind != GraphKind::general || offsets.back() > 200000) continue;
      for (const auto kind : {"unit", "float", "double", "large int64"}) {
        INFO(instance.name << " weights " << kind);
        WeightedGraph graph = testing::with_weights(instance.graph, kind, 5);
        REQUIRE(matching::detail::imbalance(graph.view(), 1) == 0);
        const Offset edges = offsets.back();
        for (const Offset e : {Offset{0}, edges / 3, edges - 1}) {
          if (edges == 0) break;
          const auto row = std::upper_bound(offsets.begin(), offsets.end(), e) - offsets.begin() - 1;
          Index& col = graph.graph.col_index[e];
          if (col == row) continue;
          const auto off_balance = [&] {
            const auto left = matching::detail::imbalance(graph.view(), 1);
            CHECK(left != 0);
            CHECK(matching::detail::imbalance(graph.view(), 3) == left);
          };
          std::visit(
              [&](auto& weights) {
                if (weights.empty()) return;
                const auto was = weights[e];
                weights[e] = was + 1;
                off_balance();
                weights[e] = was;
              },
              graph.weights);
          const Index was = std::exchange(col, static_cast<Index>(row));  // a loop in its place
          off_balance();
          col = was;
        }
      }
    }
}

TEST_CASE("the order's words say the vertex, and ascend with weights") {
  for (std::uint32_t v : {0u, 1u, 77u, 0x7fffffffu, 0xfffffffeu, 0xffffffffu}) {
    CHECK(matching::unmix(matching::mix(v)) == v);
    CHECK(matching::vertex_of(matching::word(5, v)) == v);
    CHECK(matching::key_of(matching::word(5, v)) == 5);
  }
  float last = -0.0f;
  CHECK(matching::weight_key(-0.0f) == matching::weight_key(0.0f));
  CHECK(matching::weight_key(0.0f) > 0);
  for (const float weight : {1e-45f, 1e-38f, 0.5f, 1.0f, 3e38f, std::numeric_limits<float>::max()}) {
    CHECK(matching::weight_key(weight) > matching::weight_key(last));
    last = weight;
  }
}

TEST_CASE("keys order weights of every type as they are") {
  const auto check = [](auto weights) {
    const matching::Weights view = std::span<const typename decltype(weights)::value_type>(weights);
    matching::Keys(view, 2).visit([&](const auto& key) {
      for (std::size_t a = 0; a < weights.size(); ++a)
        for (std::size_t b = 0; b < weights.size(); ++b) {
          CHECK(key(static_cast<Offset>(a)) > 0);
          CHECK((key(static_cast<Offset>(a)) < key(static_cast<Offset>(b))) == (weights[a] < weights[b]));
        }
    });
  };
  check(std::vector<float>{0, 1, -0.0f, 1e-40f, 3e38f, 2});
  check(std::vector<double>{0, 1, 0.5, 3, 3});
  check(std::vector<double>{0, 1, 0.1, 1e300, 5e-324, 0.1});
  check(std::vector<std::int64_t>{5, 0, 5, 16777216, 2});
  check(std::vector<std::int64_t>{5, 0, std::numeric_limits<std::int64_t>::max(), 16777217, 16777216, 9});
}
