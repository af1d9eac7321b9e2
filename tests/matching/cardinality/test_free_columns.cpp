// The first steps of the threads: free columns and short paths; and starts in which threads keep to their own
// regions.

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/initialiser.h>
#include <motes/matching/koenig.h>
#include <motes/matching/registry.h>

#include "matching/cardinality/augmenting_search.h"
#include "matching/cardinality/push_relabel/free_columns.h"
#include "tests/support/graphs.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::CardinalityStats;
using matching::Index;
using matching::Mates;
using matching::TwoSidedGraph;
using matching::detail::Partition;

namespace {

/// Points of a square in strips, joined within `reach`: numbered by place, and (nearly) all can be matched.
BipartiteGraph strips(Index side, double reach, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> within(0, 1);
  std::vector<std::pair<double, double>> places;
  for (Index y = 0; y < side; ++y)
    for (Index x = 0; x < side; ++x) places.emplace_back(x + within(rng), y + within(rng));
  std::vector<std::pair<Index, Index>> edges;
  const auto far = static_cast<Index>(reach) + 2;
  for (Index y = 0; y < side; ++y)
    for (Index x = 0; x < side; ++x)
      for (Index v = std::max(y - far, 0); v < std::min(y + far, side); ++v)
        for (Index u = std::max(x - far, 0); u < std::min(x + far, side); ++u) {
          const auto [ax, ay] = places[y * side + x];
          const auto [bx, by] = places[v * side + u];
          const bool same = x == u && y == v;
          if (!same && (ax - bx) * (ax - bx) + (ay - by) * (ay - by) < reach * reach)
            edges.emplace_back(y * side + x, v * side + u);
        }
  return testing::from_edges(side * side, side * side, edges);
}

bool agree(const TwoSidedGraph& graph, const Mates& mates) {
  Index pairs = 0;
  for (Index i = 0; i < graph.rows; ++i) {
    const Index j = mates.row_to_col[i];
    if (j == -1) continue;
    ++pairs;
    const auto cols = graph.cols_of(i);
    if (mates.col_to_row[j] != i || std::find(cols.begin(), cols.end(), j) == cols.end()) return false;
  }
  return pairs == graph.cols - std::count(mates.col_to_row.begin(), mates.col_to_row.end(), -1);
}

/// All free rows that have edges, each once.
bool are_the_free(const TwoSidedGraph& graph, const Mates& mates,
                  const std::vector<std::vector<Index>>& lists) {
  std::vector<Index> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  std::sort(all.begin(), all.end());
  return all == matching::detail::free_rows(graph, mates);
}

std::vector<testing::GraphInstance> graphs(std::uint64_t seed) {
  auto all = testing::small_graphs(seed);
  for (auto& one : testing::large_graphs(seed)) all.push_back(std::move(one));
  all.push_back({"strips", strips(60, 2, seed)});
  return all;
}

std::int64_t pairs_of(const std::vector<Index>& row_to_col) {
  return static_cast<std::int64_t>(row_to_col.size()) -
         std::count(row_to_col.begin(), row_to_col.end(), Index{-1});
}

}  // namespace

TEST_CASE("threads take free columns and list the rows that are left") {
  const std::uint64_t seed = 11;
  for (const auto& [name, graph] : graphs(seed)) {
    const testing::TwoSides both(graph);
    for (const int threads : {1, 2, 5})
      for (const bool by_place : {true, false}) {
        INFO(name << ", threads " << threads << ", by place " << by_place);
        const Partition partition(both.sides, 3 * threads);
        Mates mates = matching::detail::no_mates(graph.rows, graph.cols, 1);
        CardinalityStats stats;
        auto free =
            matching::detail::take_free_columns(both.sides, partition, threads, by_place, mates, stats);
        CHECK(agree(both.sides, mates));
        CHECK(are_the_free(both.sides, mates, free));
        CHECK(stats.augmentations == pairs_of(mates.row_to_col));
        bool maximal = true;
        for (const auto& list : free)
          for (const Index i : list)
            for (const Index j : both.sides.cols_of(i)) maximal &= mates.col_to_row[j] != -1;
        CHECK(maximal);
      }
  }
}

TEST_CASE("threads that keep to their own places leave about as few rows free as one thread") {
  const auto seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  const auto graph = strips(120, 2, seed);
  const testing::TwoSides both(graph);
  const matching::CardinalityProblem problem{graph.view(), both.columns.col_offsets, both.columns.row_index};
  for (const char* name : {"cheap", "karp-sipser"}) {
    const auto* start = matching::find_initialiser(name);
    const std::int64_t one = graph.rows - pairs_of(start->run({1}, problem, 0));
    const std::int64_t many = graph.rows - pairs_of(start->run({8}, problem, 0));
    INFO(name << ": " << one << " rows free on one thread, " << many << " on 8");
    // Borders cost some rows each, but not a band of them: here a strip has 120.
    CHECK(many < one + 7 * 20);
  }
}

TEST_CASE("push-relabel that starts by place is right on any number of threads") {
  for (const auto& [name, graph] : graphs(12)) {
    const matching::CardinalityProblem problem{graph.view(), {}, {}};
    for (const int threads : {2, 5})
      for (const char* start : {"none", "karp-sipser"}) {
        INFO(name << ", threads " << threads << ", " << start);
        const auto answer =
            matching::make_cardinality_solver("push-relabel")
                ->solve({threads}, problem, matching::find_initialiser(start)->run({threads}, problem, 0));
        CHECK(matching::verify(problem, answer.matching, matching::koenig_cover(problem, answer.matching))
                  .maximum());
      }
  }
}
