// Renumbered graphs: the same graph under other names, with neighbours nearer to each other.

#include <algorithm>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/koenig.h>
#include <motes/matching/registry.h>

#include "matching/cardinality/bfs_reordering.h"
#include "tests/support/graphs.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::Index;
using matching::Offset;
using matching::detail::BfsReordering;

namespace {

/// A ring of rows adjacent to the columns next to them, randomly numbered.
BipartiteGraph shuffled_band(Index rows, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<Index> row(rows), col(rows);
  std::iota(row.begin(), row.end(), 0);
  std::iota(col.begin(), col.end(), 0);
  std::shuffle(row.begin(), row.end(), rng);
  std::shuffle(col.begin(), col.end(), rng);
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < 4; ++k) edges.emplace_back(row[i], col[(i + k) % rows]);
  return testing::from_edges(rows, rows, edges);
}

bool is_permutation_of_all(const RawArray<Index>& order, Index count) {
  std::vector<Index> sorted(order.data(), order.data() + count);
  std::sort(sorted.begin(), sorted.end());
  std::vector<Index> all(count);
  std::iota(all.begin(), all.end(), 0);
  return sorted == all;
}

void check_same_graph(const matching::TwoSidedGraph& before, const BfsReordering& order) {
  const auto after = order.graph();
  REQUIRE(is_permutation_of_all(order.rows, before.rows));
  REQUIRE(is_permutation_of_all(order.cols, before.cols));
  REQUIRE(after.edges() == before.edges());
  bool same = true;
  for (Index i = 0; i < after.rows; ++i) {
    std::vector<Index> cols;
    for (const Index j : after.cols_of(i)) cols.push_back(order.cols[j]);
    std::sort(cols.begin(), cols.end());
    same = same && std::ranges::equal(cols, before.cols_of(order.rows[i]));
  }
  for (Index j = 0; j < after.cols; ++j) {
    std::vector<Index> rows;
    for (const Index i : after.rows_of(j)) rows.push_back(order.rows[i]);
    std::sort(rows.begin(), rows.end());
    same = same && std::ranges::equal(rows, before.rows_of(order.cols[j]));
  }
  CHECK(same);
}

}  // namespace

TEST_CASE("a renumbered graph is the same graph, or is left alone") {
  int numbered = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto graphs = testing::small_graphs(seed);
    for (auto& large : testing::large_graphs(seed))
      if (seed == 1) graphs.push_back(std::move(large));
    for (const auto& [name, graph] : graphs) {
      INFO(name);
      const testing::TwoSides two(graph);
      // A parallel loop of next to nothing costs most: other threads have one seed, the one with large
      // graphs.
      for (const int threads : {1, 2, 5}) {
        if (threads > 1 && seed > 1) break;
        const auto order = matching::detail::bfs_reorder(two.sides, threads);
        if (!order) continue;
        ++numbered;
        check_same_graph(two.sides, *order);
      }
    }
  }
  CHECK(numbered > 20);
}

TEST_CASE("renumbering brings neighbours together") {
  const Index rows = 20'000;
  const auto graph = shuffled_band(rows, 7);
  const testing::TwoSides two(graph);
  for (const int threads : {1, 3}) {
    const auto order = matching::detail::bfs_reorder(two.sides, threads);
    REQUIRE(order.has_value());
    const auto after = order->graph();
    Index far = 0;
    for (Index i = 0; i < rows; ++i)
      for (const Index j : after.cols_of(i)) far += std::abs(i - j) >= (threads == 1 ? 50 : rows / 8);
    // Where two threads' regions meet, neighbours may be far apart.
    CHECK(far <= (threads == 1 ? 0 : rows / 8));
  }
}

TEST_CASE("matchings go to new numbers and back unchanged") {
  const auto graph = shuffled_band(500, 3);
  const testing::TwoSides two(graph);
  const auto order = matching::detail::bfs_reorder(two.sides, 2);
  REQUIRE(order.has_value());
  matching::Mates mates{std::vector<Index>(500, -1), std::vector<Index>(500, -1)};
  for (Index i = 0; i < 500; i += 2)
    for (const Index j : two.sides.cols_of(i))
      if (mates.row_to_col[i] == -1 && mates.col_to_row[j] == -1) {
        mates.row_to_col[i] = j;
        mates.col_to_row[j] = i;
      }
  const auto renumbered = order->to_new(mates, 2);
  matching::Mates back{std::vector<Index>(500, -1), std::vector<Index>(500, -1)};
  for (Index i = 0; i < 500; ++i) {
    if (renumbered.row_to_col[i] != -1)
      back.row_to_col[order->rows[i]] = order->cols[renumbered.row_to_col[i]];
    if (renumbered.col_to_row[i] != -1)
      back.col_to_row[order->cols[i]] = order->rows[renumbered.col_to_row[i]];
  }
  CHECK(back.row_to_col == mates.row_to_col);
  CHECK(back.col_to_row == mates.col_to_row);
}

TEST_CASE("push-relabel proves wide levels on any number of threads, in old and in new numbers") {
  const std::uint64_t seed = 11;
  INFO("seed " << seed);
  // Rows too many: the search has wide levels, and rows without a path.
  const auto graph = testing::random_graph(seed, 9'000, 8'000, 3);
  const auto band = shuffled_band(8'000, seed);
  for (const BipartiteGraph* one : {&graph, &band}) {
    const matching::CardinalityProblem problem{one->view(), {}, {}};
    for (const char* setting : {"push-relabel?reorder=1", "push-relabel?reorder=0"})
      for (const int threads : {1, 2, 3, 7, 16}) {
        INFO(setting << ", threads " << threads);
        const auto answer = matching::make_cardinality_solver(setting)->solve({threads}, problem);
        const auto cover = matching::koenig_cover(problem, answer.matching);
        CHECK(matching::verify(problem, answer.matching, cover).maximum());
      }
  }
}

TEST_CASE("whether neighbours are numbered far apart is seen in rows of any degree") {
  for (const Index degree : {3, 30, 300}) {
    INFO("degree " << degree);
    const auto random = testing::random_graph(9, 5'000, 5'000, degree);
    CHECK(matching::detail::scattered(random.view()));
    CHECK(matching::detail::may_have_places(random.view()) == (degree < 300));
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i < 5'000; ++i)
      for (Index k = 0; k < degree; ++k)
        if (i / 10 * 10 + k < 5'000) edges.emplace_back(i, i / 10 * 10 + k);
    CHECK(!matching::detail::scattered(testing::from_edges(5'000, 5'000, edges).view()));
  }
}

TEST_CASE("graphs with hubs are not renumbered") {
  std::mt19937_64 rng(6);
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < 5'000; ++i)
    for (Index k = 0; k < (i % 100 == 0 ? 1'000 : 3); ++k)
      edges.emplace_back(i, static_cast<Index>(rng() % 5'000));
  const auto graph = testing::from_edges(5'000, 5'000, edges);
  CHECK(matching::detail::scattered(graph.view()));
  CHECK(!matching::detail::may_have_places(graph.view()));
  CHECK(!matching::detail::may_have_places({}));
}

TEST_CASE("graphs without places are not renumbered") {
  // Large enough that regions of all threads together have met little of it when they are found out.
  const auto random = testing::random_graph(5, 200'000, 200'000, 8);
  for (const int threads : {1, 4})
    CHECK(!matching::detail::bfs_reorder(testing::TwoSides(random).sides, threads).has_value());
}

TEST_CASE("the cardinality solver is chosen by how the graph is numbered, its hubs and its mean degree") {
  const auto chosen = [](const BipartiteGraph& graph) {
    return matching::detail::choose_for_many_threads(graph.view()).info->name;
  };
  CHECK(chosen(testing::random_graph(5, 20'000, 20'000, 6)) == "push-relabel");
  CHECK(chosen(shuffled_band(1000, 2)) == "push-relabel");
  CHECK(chosen(testing::chain_graph(1000, true)) == "push-relabel");
  std::vector<std::pair<Index, Index>> band;
  for (Index i = 3; i < 1000; ++i)
    for (Index j = i - 3; j < std::min(i + 3, 1000); ++j) band.emplace_back(i, j);
  const auto mesh = testing::from_edges(1000, 1000, band);
  CHECK(chosen(mesh) == "ms-bfs-graft");
  CHECK(matching::detail::choose_for_many_threads(mesh.view()).init == "cheap");
  CHECK(matching::detail::choose_for_many_threads(testing::chain_graph(1000, true).view()).init == "none");
  auto edges = std::vector<std::pair<Index, Index>>{};
  for (Index j = 0; j < 1000; ++j) edges.emplace_back(0, j);
  for (Index i = 1; i < 1000; ++i) edges.emplace_back(i, i);
  CHECK(chosen(testing::from_edges(1000, 1000, edges)) == "push-relabel");
  CHECK(chosen(testing::from_edges(0, 0, {})) == "ms-bfs-graft");
  CHECK(chosen(testing::from_edges(2, 2, {{0, 0}, {0, 1}, {1, 0}, {1, 1}})) == "push-relabel");
  CHECK(chosen(testing::from_edges(1, 1, {{0, 0}})) == "push-relabel");
  CHECK(matching::detail::choose_for_many_threads({}).info != nullptr);
}

TEST_CASE("small graphs, and all graphs on few threads, are searched before anything is prepared") {
  const auto chosen = [](const BipartiteGraph& graph, int threads) {
    return matching::choose_cardinality_solver(graph.view(), Backend::cpu, matching::Gpu::none, threads)
        .info->name;
  };
  const auto small = testing::random_graph(5, 2'000, 2'000, 6);
  const auto large = testing::random_graph(5, 200'000, 200'000, 6);
  CHECK(chosen(small, 0) == "pf-push-relabel");
  CHECK(chosen(small, 16) == "pf-push-relabel");
  CHECK(chosen(large, 1) == "pf-push-relabel");
  CHECK(chosen(large, 16) == "push-relabel");
  CHECK(chosen(large, 0) == "push-relabel");
}
