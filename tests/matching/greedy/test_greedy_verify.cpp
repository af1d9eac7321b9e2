// The certificate of greedy matchings, and wrong answers fed to it.

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>
#include <motes/matching/verify_greedy.h>

#include "tests/support/weighted_graphs.h"

using namespace motes;
using matching::GraphKind;
using matching::GreedyProblem;
using matching::Index;
using matching::Matching;

namespace {

Matching answer_of(std::vector<Index> row_to_col, std::vector<Index> col_to_row, std::int64_t cardinality,
                   double weight) {
  Matching answer;
  answer.row_to_col = std::move(row_to_col);
  answer.col_to_row = std::move(col_to_row);
  answer.cardinality = cardinality;
  answer.objective = weight;
  return answer;
}

}  // namespace

TEST_CASE("the greedy certificate refuses wrong answers, naming the fault") {
  // A path 0 -3- 1 -5- 2 -4- 3, and a vertex alone.
  const auto path = testing::general_graph(5, {{0, 1, 3.0}, {1, 2, 5.0}, {2, 3, 4.0}, {4, 4, 9.0}});
  const auto judged = [&](std::vector<Index> mates, std::int64_t cardinality, double weight) {
    return verify(path.view(), answer_of(std::move(mates), {}, cardinality, weight));
  };
  const auto right = judged({-1, 2, 1, -1, -1}, 1, 5);
  CHECK((right.matching_valid && right.maximal && right.dominant));
  CHECK(right.fault == "");
  CHECK(right.weight == 5);
  CHECK(right.upper_bound == 8.5);  // (3 + 5 + 5 + 4) / 2
  // Heavier, but not what sorted greedy gives.
  const auto outer = judged({1, 0, 3, 2, -1}, 2, 7);
  CHECK((outer.matching_valid && outer.maximal && !outer.dominant));
  CHECK(outer.fault == "the edge of vertex 1 and vertex 2 comes before the pairs of both of its ends");
  CHECK(outer.upper_bound == 8.5);
  const auto half = judged({1, 0, -1, -1, -1}, 1, 3);
  CHECK((half.matching_valid && !half.maximal && !half.dominant));
  CHECK(half.fault == "the edge of vertex 2 and vertex 3 has both ends free");
  CHECK(judged({1, 0, 3, 2, -1}, 1, 7).fault == "the matching has 2 pairs, not 1");
  CHECK_THAT(judged({1, 0, 3, 2, -1}, 2, 7.5).fault, Catch::Contains("weighs 7"));
  CHECK(judged({2, -1, 0, -1, -1}, 1, 5).fault ==
        "vertex 0 and vertex 2 are matched, but no edge joins them");
  CHECK(judged({-1, -1, -1, -1, 4}, 1, 9).fault ==
        "vertex 4 and vertex 4 are matched, but no edge joins them");
  CHECK(judged({1, 2, 1, -1, -1}, 1, 5).fault == "vertex 0 and vertex 1 disagree");
  CHECK(judged({5, -1, -1, -1, -1}, 1, 5).fault == "vertex 0 is matched to no vertex: 5");
  CHECK(judged({-2, -1, -1, -1, -1}, 1, 5).fault == "vertex 0 is matched to no vertex: -2");
  CHECK(judged({-1, -1}, 0, 0).fault == "matching has the wrong number of vertices");
  GreedyProblem device = path.view();
  device.space = matching::Space::device;
  CHECK(!verify(device, answer_of({-1, 2, 1, -1, -1}, {}, 1, 5)).matching_valid);

  const auto pairs = testing::bipartite_graph(2, 3, {{0, 0, 1.0}, {0, 2, 2.0}, {1, 2, 3.0}});
  const auto sides = [&](std::vector<Index> rows, std::vector<Index> cols) {
    return verify(pairs.view(), answer_of(std::move(rows), std::move(cols), 2, 4));
  };
  CHECK(sides({0, 2}, {0, -1, 1}).fault == "");
  CHECK(sides({0, 2}, {0, -1, 1}).upper_bound == 4);  // of the columns; of the rows 5
  CHECK(sides({0, 2}, {0, -1, -1}).fault == "row 1 and column 2 disagree");
  CHECK(sides({0, -1}, {0, -1, 1}).fault == "column 2 and row 1 disagree");
  CHECK(sides({1, 2}, {-1, 0, 1}).fault == "row 0 and column 1 are matched, but no edge joins them");
  CHECK(sides({0, 2}, {0, -1}).fault == "matching has the wrong number of rows or columns");
}

TEST_CASE("only the matching of sorted greedy is dominant") {
  // Every maximal matching but one fails the certificate, on graphs full of ties.
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    for (const auto& instance : testing::weighted_graphs(8, seed)) {
      const auto graph = testing::with_weights(instance.graph, "few", seed);
      const GreedyProblem problem = graph.view();
      const auto sorted = matching::make_greedy_solver("greedy-sorted")->solve({1}, problem).matching;
      for (int other = 0; other < 10; ++other) {
        const std::string name =
            (other % 2 == 0 ? "greedy-random?seed=" : "greedy-proposal?select=random&seed=") +
            std::to_string(other);
        INFO(instance.name << " " << name);
        const auto answer = matching::make_greedy_solver(name)->solve({1}, problem).matching;
        CHECK(verify(problem, answer, 1 + other % 3).dominant == (answer.row_to_col == sorted.row_to_col));
      }
    }
}
