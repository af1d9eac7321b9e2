// The cardinality problem: checks of its graph, the columns' side, options of solvers.

#include <catch2/catch.hpp>

#include <motes/matching/cardinality_problem.h>
#include <motes/matching/solver_options.h>

#include "tests/support/graphs.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::CardinalityProblem;
using matching::Index;
using matching::Offset;

namespace {

std::vector<testing::GraphInstance> graphs() {
  auto all = testing::small_graphs(3);
  for (auto& one : testing::large_graphs(4)) all.push_back(std::move(one));
  all.push_back({"wide", testing::random_graph(5, 2000, 3000000, 2)});  // several ranges of columns
  all.push_back({"tall", testing::random_graph(6, 300000, 70000, 1)});
  return all;
}

void refused(const BipartiteGraph& graph, const std::string& part) {
  for (const int threads : {1, 3})
    CHECK_THROWS_WITH(matching::check_problem({graph.view(), {}, {}}, threads), Catch::Contains(part));
}

}  // namespace

TEST_CASE("the columns' side holds the same edges in order, whatever the number of threads") {
  for (const auto& [name, graph] : graphs()) {
    INFO(name);
    std::vector<std::vector<Index>> expected(graph.cols);
    for (Index i = 0; i < graph.rows; ++i)
      for (Offset e = graph.row_offsets[i]; e < graph.row_offsets[i + 1]; ++e)
        expected[graph.col_index[e]].push_back(i);
    std::vector<Offset> offsets{0};
    std::vector<Index> rows;
    for (const auto& list : expected) {
      rows.insert(rows.end(), list.begin(), list.end());
      offsets.push_back(static_cast<Offset>(rows.size()));
    }
    for (const int threads : {1, 2, 5}) {
      const auto made = matching::transpose(graph.view(), threads);
      CHECK(made.col_offsets == offsets);
      CHECK(made.row_index == rows);
      CHECK_NOTHROW(matching::check_problem({graph.view(), made.col_offsets, made.row_index}, threads));
    }
  }
}

TEST_CASE("unsound graphs are refused, and the first fault is named") {
  const auto good = testing::from_edges(3, 4, {{0, 1}, {0, 3}, {2, 0}, {2, 2}});
  CHECK_NOTHROW(matching::check_problem({good.view(), {}, {}}));
  const auto with = [&](auto&& change) {
    auto bad = good;
    change(bad);
    return bad;
  };
  refused(with([](auto& g) { g.col_index[1] = 4; }), "column 4 of row 0 lies outside 0..3");
  refused(with([](auto& g) { g.col_index[2] = -1; }), "column -1 of row 2 lies outside");
  refused(with([](auto& g) { g.col_index[3] = 0; }), "row 2 are unsorted or repeat column 0");
  refused(with([](auto& g) { std::swap(g.col_index[0], g.col_index[1]), g.col_index[2] = 9; }),
          "row 0 are unsorted");
  refused(with([](auto& g) { g.row_offsets[1] = 3, g.row_offsets[2] = 2; }), "row");
  refused(with([](auto& g) { g.row_offsets[1] = 40; }), "falls at row 0");
  refused(with([](auto& g) { g.row_offsets[1] = -3; }), "falls at row 0");
  refused(with([](auto& g) { g.row_offsets.pop_back(); }), "row_offsets has 3 entries, not 4");
  refused(with([](auto& g) { g.col_index.push_back(1); }), "from 0 to the number of edges");
  refused(with([](auto& g) { g.cols = -1; }), "negative");

  const auto made = matching::transpose(good.view(), 1);
  const auto sides = [&](std::vector<Offset> offsets, std::vector<Index> rows) {
    matching::check_problem({good.view(), offsets, rows});
  };
  CHECK_NOTHROW(sides(made.col_offsets, made.row_index));
  CHECK_THROWS_WITH(sides({}, made.row_index), Catch::Contains("col_offsets is not"));
  CHECK_THROWS_WITH(sides({0, 4}, made.row_index), Catch::Contains("col_offsets has 2"));
  CHECK_THROWS_WITH(sides(made.col_offsets, {0}), Catch::Contains("row_index has 1"));
  CHECK_THROWS_WITH(sides({0, 1, 2, 3, 3}, made.row_index), Catch::Contains("col_offsets must run"));
}

TEST_CASE("device graphs have their lengths checked alone") {
  // No memory of a device is read on the host: the pointers lead nowhere.
  const std::span<const Offset> offsets(reinterpret_cast<const Offset*>(64), 4);
  const std::span<const Index> cols(reinterpret_cast<const Index*>(64), 10);
  CardinalityProblem problem{{3, 5, offsets, cols}, {}, {}, matching::Space::device};
  CHECK_NOTHROW(matching::check_problem(problem));
  problem.graph.rows = 4;
  CHECK_THROWS_WITH(matching::check_problem(problem), Catch::Contains("row_offsets has 4"));
}

TEST_CASE("options of solvers are complete, checked, and named when wrong") {
  static constexpr matching::OptionInfo kKnown[] = {{"kernel", "bfs|bfs-wr", "bfs-wr", "which kernel"},
                                                    {"limit", "1..500", "100", "queue limit"},
                                                    {"fair", "0|1", "1", "fairness"}};
  const matching::SolverOptions none(kKnown, "");
  CHECK(none.word("kernel") == "bfs-wr");
  CHECK(none.number("limit") == 100);
  CHECK(none.flag("fair"));
  const matching::SolverOptions some(kKnown, "limit=500&fair=0");
  CHECK(some.number("limit") == 500);
  CHECK_FALSE(some.flag("fair"));
  CHECK(some.word("kernel") == "bfs-wr");
  const auto refuse = [&](std::string_view text, const std::string& part) {
    CHECK_THROWS_WITH(matching::SolverOptions(kKnown, text), Catch::Contains(part));
  };
  refuse("kernal=bfs", "no option is called 'kernal'; there are kernel, limit, fair");
  refuse("kernel=wr", "kernel=wr: it takes bfs|bfs-wr");
  refuse("kernel=", "it takes");
  refuse("limit=0", "it takes 1..500");
  refuse("limit=501", "it takes 1..500");
  refuse("limit=ten", "it takes 1..500");
  refuse("limit=10x", "it takes 1..500");
  refuse("fair=1&fair=1", "'fair' is given twice");
  refuse("fair", "'fair' is not of the form");
  refuse("=1", "not of the form");
  refuse("&", "not of the form");
  CHECK_THROWS_WITH(matching::SolverOptions({}, "a=1"), Catch::Contains("this solver has none"));
  CHECK_THROWS_AS(none.word("other"), std::logic_error);

  CHECK(matching::split_solver_name("hk") == std::pair<std::string_view, std::string_view>("hk", ""));
  CHECK(matching::split_solver_name("pf?fair=0&a=b").first == "pf");
  CHECK(matching::split_solver_name("pf?fair=0&a=b").second == "fair=0&a=b");
}
