// The smallest threshold of every size of matching: against brute force over all thresholds, and by
// maximum matchings of the graphs on both sides of it.

#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/bottleneck.h>
#include <motes/matching/registry.h>

#include "tests/support/graphs.h"

using namespace motes;
using namespace motes::matching;

namespace {

/// Lengths of few values (many ties), of many, or negative ones.
SparseCosts with_lengths(const BipartiteGraph& graph, std::uint64_t seed, Cost values) {
  std::mt19937_64 rng(seed);
  std::uniform_int_distribution<Cost> draw(-values / 3, values);
  SparseCosts out;
  out.graph = graph;
  for (Offset e = 0; e < graph.edges(); ++e) out.cost.push_back(draw(rng));
  return out;
}

BipartiteGraph not_longer(const SparseCosts& problem, Cost threshold) {
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < problem.graph.rows; ++i)
    for (Offset e = problem.graph.row_offsets[i]; e < problem.graph.row_offsets[i + 1]; ++e)
      if (problem.cost[e] <= threshold) edges.emplace_back(i, problem.graph.col_index[e]);
  return testing::from_edges(problem.graph.rows, problem.graph.cols, edges);
}

/// threshold[k - 1] of k pairs, every length tried.
std::vector<Cost> brute_force_curve(const SparseCosts& problem) {
  std::vector<Cost> lengths = problem.cost, thresholds;
  std::sort(lengths.begin(), lengths.end());
  for (const Cost length : lengths) {
    const auto pairs = testing::brute_force_cardinality(not_longer(problem, length).view());
    while (std::ssize(thresholds) < pairs) thresholds.push_back(length);
  }
  return thresholds;
}

}  // namespace

TEST_CASE("bottleneck: the curve is that of trying every threshold") {
  for (const std::uint64_t seed : {1, 2, 3})
    for (const auto& one : testing::small_graphs(seed))
      for (const Cost values : {0, 3, 1000}) {
        INFO(one.name << ", lengths up to " << values << ", seed " << seed);
        const SparseCosts problem = with_lengths(one.graph, seed, values);
        CHECK(bottleneck_curve(problem.view()).threshold == brute_force_curve(problem));
      }
}

TEST_CASE("bottleneck: each threshold of the curve is the smallest, by maximum matchings on both sides of it") {
  const auto cardinality = [](const BipartiteGraph& graph) {
    const auto answer = make_cardinality_solver("push-relabel")->solve({.threads = 1}, {graph.view(), {}, {}, Space::host});
    return answer.matching.cardinality;
  };
  for (const std::uint64_t seed : {4, 5}) {
    auto graphs = testing::small_graphs(seed);
    for (auto& one : testing::large_graphs(seed))
      if (one.graph.rows < 2000) graphs.push_back(std::move(one));
    for (const auto& one : graphs)
      for (const Cost values : {2, 100000}) {
        const SparseCosts problem = with_lengths(one.graph, seed, values);
        const BottleneckCurve curve = bottleneck_curve(problem.view());
        REQUIRE(std::is_sorted(curve.threshold.begin(), curve.threshold.end()));
        CHECK(curve.maximum() == cardinality(one.graph));
        for (const double share : {0.001, 0.5, 0.99, 1.0}) {
          INFO(one.name << ", lengths up to " << values << ", seed " << seed << ", share " << share);
          const auto wanted =
              static_cast<std::int64_t>(std::ceil(share * static_cast<double>(curve.maximum())));
          if (wanted == 0) continue;
          const Cost threshold = curve.threshold[static_cast<std::size_t>(wanted) - 1];
          CHECK(curve.cardinality_within(threshold) == cardinality(not_longer(problem, threshold)));
          CHECK(curve.cardinality_within(threshold) >= wanted);
          CHECK(cardinality(not_longer(problem, threshold - 1)) < wanted);
        }
      }
  }
}

TEST_CASE("bottleneck: bad input") {
  const SparseCosts problem = with_lengths(testing::random_graph(1, 20, 20, 3), 1, 50);
  SparseCostsView far = problem.view();
  far.space = Space::device;
  CHECK_THROWS_WITH(bottleneck_curve(far), Catch::Contains("device"));
  SparseCosts short_costs = problem;
  short_costs.cost.pop_back();
  CHECK_THROWS_AS(bottleneck_curve(short_costs.view()), std::invalid_argument);
}
