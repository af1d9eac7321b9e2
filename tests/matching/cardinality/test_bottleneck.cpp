// The smallest threshold of every size of matching: against brute force over all thresholds, and by its
// certificate.

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "matching/cardinality/bottleneck.h"
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

Execution with_threads(int threads) {
  Execution execution;
  execution.threads = threads;
  return execution;
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

TEST_CASE("bottleneck: the smallest threshold of any share is the curve's, and proven") {
  for (const std::uint64_t seed : {4, 5}) {
    auto graphs = testing::small_graphs(seed);
    for (auto& one : testing::large_graphs(seed))
      if (one.graph.rows < 2000) graphs.push_back(std::move(one));
    for (const auto& one : graphs)
      for (const Cost values : {2, 100000}) {
        const SparseCosts problem = with_lengths(one.graph, seed, values);
        const BottleneckCurve curve = bottleneck_curve(problem.view());
        REQUIRE(std::is_sorted(curve.threshold.begin(), curve.threshold.end()));
        for (const double share : {0.001, 0.5, 0.99, 1.0})
          for (const int threads : {1, 2}) {
            if (threads == 2 && share != 0.99) continue;
            INFO(one.name << ", lengths up to " << values << ", seed " << seed << ", share " << share);
            const Bottleneck answer = smallest_threshold(with_threads(threads), problem.view(), share);
            CHECK(fault_of(problem.view(), share, answer) == "");
            CHECK(answer.maximum == curve.maximum());
            if (answer.wanted == 0) continue;
            CHECK(answer.threshold == curve.threshold[answer.wanted - 1]);
            CHECK(curve.cardinality_within(answer.threshold) >= answer.wanted);
            CHECK(curve.cardinality_within(answer.threshold - 1) < answer.wanted);
          }
      }
  }
}

TEST_CASE("bottleneck: shares are rounded up to whole pairs") {
  BipartiteGraph diagonal;
  diagonal.rows = diagonal.cols = 100;
  SparseCosts problem;
  for (Index i = 0; i < 100; ++i) {
    diagonal.col_index.push_back(i);
    diagonal.row_offsets.push_back(i + 1);
    problem.cost.push_back(i);
  }
  problem.graph = diagonal;
  CHECK(smallest_threshold({}, problem.view(), 0.99).threshold == 98);
  CHECK(smallest_threshold({}, problem.view(), 0.981).threshold == 98);
  CHECK(smallest_threshold({}, problem.view(), 1e-9).threshold == 0);
  CHECK(smallest_threshold({}, problem.view(), 1).threshold == 99);
}

TEST_CASE("bottleneck: bad input") {
  const SparseCosts problem = with_lengths(testing::random_graph(1, 20, 20, 3), 1, 50);
  for (const double share : {0.0, -1.0, 1.5, std::nan("")})
    CHECK_THROWS_WITH(smallest_threshold({}, problem.view(), share), Catch::Contains("share"));
  SparseCostsView far = problem.view();
  far.space = Space::device;
  CHECK_THROWS_WITH(bottleneck_curve(far), Catch::Contains("device"));
  SparseCosts short_costs = problem;
  short_costs.cost.pop_back();
  CHECK_THROWS_AS(bottleneck_curve(short_costs.view()), std::invalid_argument);
}

TEST_CASE("bottleneck: the certificate sees wrong answers") {
  const SparseCosts problem = with_lengths(testing::random_graph(7, 200, 190, 5), 7, 1000);
  const double share = 0.95;
  const Bottleneck right = smallest_threshold({}, problem.view(), share);
  REQUIRE(fault_of(problem.view(), share, right).empty());
  REQUIRE(right.wanted > 2);
  const auto fault_after = [&](auto change) {
    Bottleneck wrong = right;
    change(wrong);
    return fault_of(problem.view(), share, wrong);
  };
  CHECK_FALSE(fault_after([](Bottleneck& b) { ++b.threshold; }).empty());
  CHECK_FALSE(fault_after([](Bottleneck& b) { --b.threshold; }).empty());
  CHECK_FALSE(fault_after([](Bottleneck& b) { --b.wanted; }).empty());
  CHECK_FALSE(fault_after([](Bottleneck& b) { --b.maximum, b.whole.rows.pop_back(); }).empty());
  CHECK_FALSE(fault_after([](Bottleneck& b) { ++b.maximum; }).empty());
  CHECK_FALSE(fault_after([](Bottleneck& b) { b.below = b.whole; }).empty());
  CHECK_FALSE(fault_after([](Bottleneck& b) { b.below = {}; }).empty());
  CHECK_FALSE(fault_after([](Bottleneck& b) { b.below.rows.assign(1, -1); }).empty());
  CHECK_FALSE(fault_after([](Bottleneck& b) {
                const auto row = std::find_if(b.matching.row_to_col.begin(), b.matching.row_to_col.end(),
                                              [](Index j) { return j != -1; });
                b.matching.col_to_row[*row] = -1;
                *row = -1;
                --b.matching.cardinality;
              }).empty());
}
