// Cardinality solvers and initialisers on the GPU: graphs of every family, from every start, in either space,
// in every setting, each proven by a Koenig cover on the host.

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/device_graph.h>
#include <motes/matching/initialiser.h>
#include <motes/matching/koenig.h>
#include <motes/matching/registry.h>

#include "tests/support/graphs.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::CardinalityAnswer;
using matching::CardinalityProblem;
using matching::Index;

namespace {

CardinalityProblem problem_of(const BipartiteGraph& graph) { return {graph.view(), {}, {}}; }

Execution on_gpu(Workspace& workspace) {
  Execution execution{1, Backend::cuda};
  execution.workspace = &workspace;
  return execution;
}

constexpr const char* kSettings[] = {
    "push-relabel",
    "push-relabel?chain=1",
    "push-relabel?chain=7",
    "apfb",
    "apfb?start=none",
    "apfb?kernel=bfs",
    "apfb?threads=mt",
    "apfb?kernel=bfs&threads=mt&start=none",
    "apsb",
    "apsb?start=none",
    "apsb?kernel=bfs",
    "apsb?threads=mt",
    "apsb?kernel=bfs&threads=mt&start=none",
    "ms-bfs",
    "ms-bfs?direction=1&alpha=1",
    "ms-bfs-graft",
    "ms-bfs-graft?finish=0",
    "ms-bfs-graft?direction=0&finish=0",
    "ms-bfs-graft?alpha=1000000&finish=0",
    "ms-bfs-graft?alpha=1&graft=0&finish=0",
};

/// A matching of about every second row that can have one.
std::vector<Index> partial_start(const BipartiteGraph& graph, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<Index> row_to_col(graph.rows, -1);
  std::vector<char> taken(graph.cols, 0);
  for (Index i = 0; i < graph.rows; ++i)
    for (auto e = graph.row_offsets[i]; e < graph.row_offsets[i + 1] && row_to_col[i] == -1; ++e) {
      const Index j = graph.col_index[e];
      if (taken[j] != 0 || rng() % 2 == 0) continue;
      taken[j] = 1;
      row_to_col[i] = j;
    }
  return row_to_col;
}

void check_maximum(const BipartiteGraph& graph, const CardinalityAnswer& answer,
                   const std::vector<Index>& start) {
  const auto cover = matching::koenig_cover(problem_of(graph), answer.matching);
  const auto certificate = matching::verify(problem_of(graph), answer.matching, cover);
  REQUIRE(certificate.fault == "");
  REQUIRE(certificate.maximum());
  const auto given = static_cast<std::int64_t>(start.size()) - std::count(start.begin(), start.end(), -1);
  CHECK(answer.matching.stats.initial_assignments == given);
  CHECK(given + answer.stats.augmentations == answer.matching.cardinality);
  if (answer.stats.global_relabels == 0 && !answer.stats.augmented.empty()) {
    std::int64_t paths = 0;
    for (const auto count : answer.stats.augmented) paths += count;
    CHECK(paths == answer.stats.augmentations);
    CHECK(answer.stats.levels.size() == answer.stats.augmented.size());
  }
}

/// Graphs as blocks of one.
BipartiteGraph stacked(const std::vector<testing::GraphInstance>& blocks) {
  BipartiteGraph all;
  for (const auto& [name, block] : blocks) {
    for (Index i = 0; i < block.rows; ++i) {
      for (auto e = block.row_offsets[i]; e < block.row_offsets[i + 1]; ++e)
        all.col_index.push_back(all.cols + block.col_index[e]);
      all.row_offsets.push_back(all.edges());
    }
    all.rows += block.rows;
    all.cols += block.cols;
  }
  return all;
}

}  // namespace

TEST_CASE("cardinality solvers on the GPU prove large graphs, from any start, in either space") {
  MOTES_NEED_GPU();
  Workspace workspace;
  const auto execution = on_gpu(workspace);
  for (const std::uint64_t seed : {1}) {
    for (const auto& [name, graph] : testing::large_graphs(seed)) {
      const auto columns = matching::transpose(graph.view(), 1);
      const CardinalityProblem sided{graph.view(), columns.col_offsets, columns.row_index};
      const matching::DeviceGraph one_side(problem_of(graph)), both_sides(sided);
      const CardinalityProblem forms[] = {problem_of(graph), sided, one_side.view(), both_sides.view()};
      const auto partial = partial_start(graph, seed);
      std::vector<Index> maximum;
      for (std::size_t k = 0; k < std::size(kSettings); ++k) {
        INFO(kSettings[k] << " " << name << " seed " << seed);
        const auto solver = matching::make_cardinality_solver(kSettings[k]);
        const auto cold = solver->solve(execution, forms[k % 4]);
        check_maximum(graph, cold, {});
        if (maximum.empty()) maximum = cold.matching.row_to_col;
        CHECK(cold.matching.cardinality ==
              static_cast<std::int64_t>(graph.rows) - std::count(maximum.begin(), maximum.end(), -1));
        check_maximum(graph, solver->solve(execution, forms[(k + 1) % 4], partial), partial);
        const auto again = solver->solve(execution, forms[(k + 2) % 4], maximum);
        check_maximum(graph, again, maximum);
        CHECK(again.stats.augmentations == 0);
      }
    }
  }
}

TEST_CASE("cardinality solvers on the GPU solve thousands of small graphs as one, each as brute force does") {
  MOTES_NEED_GPU();
  Workspace workspace;
  const auto execution = on_gpu(workspace);
  std::vector<testing::GraphInstance> blocks;
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
    for (auto& block : testing::small_graphs(seed)) blocks.push_back(std::move(block));
  REQUIRE(blocks.size() > 3000);
  const auto all = stacked(blocks);
  std::vector<std::int64_t> best;
  for (const auto& block : blocks) best.push_back(testing::brute_force_cardinality(block.graph.view()));
  for (const char* setting : kSettings) {
    const auto answer = matching::make_cardinality_solver(setting)->solve(execution, problem_of(all));
    check_maximum(all, answer, {});
    Index row = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      std::int64_t pairs = 0;
      for (Index i = 0; i < blocks[b].graph.rows; ++i) pairs += answer.matching.row_to_col[row + i] != -1;
      if (pairs != best[b])
        FAIL(setting << " finds " << pairs << " pairs, not " << best[b] << ", in " << blocks[b].name);
      row += blocks[b].graph.rows;
    }
  }
}

TEST_CASE("cardinality solvers on the GPU solve graphs without rows, columns or edges") {
  MOTES_NEED_GPU();
  Workspace workspace;
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}, {4, 2}})
    for (const char* setting : kSettings) {
      INFO(setting << " " << rows << " x " << cols);
      const auto graph = testing::from_edges(rows, cols, {});
      const auto answer =
          matching::make_cardinality_solver(setting)->solve(on_gpu(workspace), problem_of(graph));
      check_maximum(graph, answer, {});
      CHECK(answer.matching.cardinality == 0);
    }
}

TEST_CASE("cardinality solvers on the GPU follow one path through all vertices") {
  MOTES_NEED_GPU();
  Workspace workspace;
  const Index rows = 20'000;
  const auto graph = testing::chain_graph(rows, true);
  std::vector<Index> shifted(rows, -1);
  for (Index i = 1; i < rows; ++i) shifted[i] = i - 1;
  for (const char* setting : kSettings) {
    INFO(setting);
    const auto answer =
        matching::make_cardinality_solver(setting)->solve(on_gpu(workspace), problem_of(graph), shifted);
    CHECK(answer.matching.cardinality == rows);
    check_maximum(graph, answer, shifted);
  }
}

TEST_CASE("the columns of a hub are shared out, and its rows found") {
  MOTES_NEED_GPU();
  // One column of 5000 rows, each with a column of its own as well but for the last; many chunks of edges.
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < 5000; ++i) {
    edges.emplace_back(i, 0);
    if (i + 1 < 5000) edges.emplace_back(i, i + 1);
  }
  const auto graph = testing::from_edges(5000, 5000, edges);
  std::vector<Index> start(5000, -1);
  for (Index i = 0; i < 4999; ++i) start[i] = i == 17 ? 0 : i + 1;
  Workspace workspace;
  for (const char* setting : kSettings) {
    INFO(setting);
    const auto answer =
        matching::make_cardinality_solver(setting)->solve(on_gpu(workspace), problem_of(graph), start);
    CHECK(answer.matching.cardinality == 5000);
    check_maximum(graph, answer, start);
  }
}

TEST_CASE("a path through the end of a hub's column is found on the GPU") {
  MOTES_NEED_GPU();
  // Row i of the first 5000 has its own column and the hub's, column 0, which row 17 holds; row 5000 has only
  // the column of row 4999, and column 18 is free.
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < 5000; ++i) edges.emplace_back(i, 0), edges.emplace_back(i, i + 1);
  edges.emplace_back(5000, 5000);
  const auto graph = testing::from_edges(5001, 5001, edges);
  const auto columns = matching::transpose(graph.view(), 1);
  std::vector<Index> start(5001, -1);
  for (Index i = 0; i < 5000; ++i) start[i] = i == 17 ? 0 : i + 1;
  Workspace workspace;
  for (const char* setting : kSettings) {
    INFO(setting);
    const auto answer = matching::make_cardinality_solver(setting)->solve(
        on_gpu(workspace), {graph.view(), columns.col_offsets, columns.row_index}, start);
    CHECK(answer.matching.cardinality == 5001);
    check_maximum(graph, answer, start);
  }
}

TEST_CASE("rows of more columns than a table of near ones holds are looked through on the GPU") {
  MOTES_NEED_GPU();
  // Graphs of each mean degree for which kernels differ; few columns, so that rows compete and labels rise.
  Workspace workspace;
  for (const int degree : {2, 8, 60}) {
    std::mt19937_64 rng(degree);
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i < 3000; ++i) {
      const int count = i % 50 == 0 ? 40 * degree : degree;
      for (int k = 0; k < count; ++k)
        edges.emplace_back(i, static_cast<Index>(rng() % 2500 * (rng() % 2500) / 2500));
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const auto graph = testing::from_edges(3000, 2500, edges);
    for (const char* setting : {"push-relabel", "push-relabel?chain=3"}) {
      INFO(setting << " degree " << degree);
      check_maximum(
          graph, matching::make_cardinality_solver(setting)->solve(on_gpu(workspace), problem_of(graph)), {});
    }
  }
}

TEST_CASE("cardinality solvers on the GPU prove forests and what hangs on a core") {
  MOTES_NEED_GPU();
  // Leaves on both sides, and rows that compete for what is left.
  Workspace workspace;
  std::mt19937_64 rng(5);
  std::vector<std::pair<Index, Index>> tree, core;
  for (Index k = 1; k < 20000; ++k) {
    tree.emplace_back(static_cast<Index>(rng() % k), k);
    tree.emplace_back(k, static_cast<Index>(rng() % k));
  }
  for (Index i = 0; i < 20000; ++i) {
    core.emplace_back(i, i < 4000 ? 10000 + i : static_cast<Index>(rng() % 10000));
    if (i >= 2000)
      for (int k = 0; k < 3; ++k)
        core.emplace_back(i, static_cast<Index>(rng() % 10000 * (rng() % 10000) / 10000));
  }
  std::sort(core.begin(), core.end());
  core.erase(std::unique(core.begin(), core.end()), core.end());
  for (const auto& graph : {testing::from_edges(20000, 20000, tree), testing::from_edges(20000, 14000, core)})
    for (const char* setting : {"push-relabel", "push-relabel?chain=3"}) {
      INFO(setting << " edges " << graph.col_index.size());
      check_maximum(
          graph, matching::make_cardinality_solver(setting)->solve(on_gpu(workspace), problem_of(graph)), {});
    }
}

TEST_CASE("what hangs on hubs, paths and trees is peeled on the GPU, and the rest solved") {
  MOTES_NEED_GPU();
  // Side by side: stars of thousands of leaves that share some, long paths with leaves, trees whose early
  // vertices are hubs, and a core that all of them hang on. Nearly every vertex is decided by peeling.
  Workspace workspace;
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::mt19937_64 rng(seed);
    const auto below = [&](Index bound) { return static_cast<Index>(rng() % static_cast<unsigned>(bound)); };
    std::vector<std::pair<Index, Index>> edges;
    Index rows = 2000, cols = 2000;
    for (Index i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) edges.emplace_back(i, below(cols) * below(cols) / cols);
    for (int star = 0; star < 12; ++star) {  // the hub a row, then a column
      const bool row = star % 2 == 0;
      const Index hub = row ? rows++ : cols++;
      for (int leaf = 0; leaf < 1000 + 400 * star; ++leaf) {
        Index& side = row ? cols : rows;
        const Index other = leaf % 3 == 0 && side > 3000 ? side - 1 - below(900) : side++;
        edges.emplace_back(row ? hub : other, row ? other : hub);
      }
      edges.emplace_back(row ? hub : below(2000), row ? below(2000) : hub);
    }
    for (Index k = 0, last = below(2000); k < 3000; ++k) {  // last row - column - next row, and leaves
      edges.emplace_back(last, cols);
      last = rows++;
      edges.emplace_back(last, cols++);
      if (k % 7 == 0) edges.emplace_back(last, cols++);
    }
    for (Index k = 0; k < 20000; ++k) {
      edges.emplace_back(below(rows) % (1 + below(rows)), cols++);
      edges.emplace_back(rows++, below(cols) % (1 + below(cols)));
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const auto graph = testing::from_edges(rows, cols, edges);
    const auto columns = matching::transpose(graph.view(), 1);
    const CardinalityProblem sided{graph.view(), columns.col_offsets, columns.row_index};
    const matching::DeviceGraph there(sided);
    const auto expected = matching::make_cardinality_solver("hk")->solve({1}, sided).matching.cardinality;
    for (const char* setting : {"push-relabel", "push-relabel?chain=1", "push-relabel?chain=7"})
      for (const auto& problem : {problem_of(graph), sided, there.view()}) {
        INFO(setting << " seed " << seed << " edges " << edges.size());
        const auto answer = matching::make_cardinality_solver(setting)->solve(on_gpu(workspace), problem);
        CHECK(answer.matching.cardinality == expected);
        check_maximum(graph, answer, {});
      }
  }
}

TEST_CASE("a faulty start is refused on the GPU as on the CPU") {
  MOTES_NEED_GPU();
  const auto graph = testing::random_graph(7, 3000, 2500, 6);
  const auto problem = problem_of(graph);
  const matching::DeviceGraph there(problem);
  Workspace workspace;
  const auto good = partial_start(graph, 7);
  Index row = 2000;
  while (good[row] == -1) ++row;
  const Index first = graph.col_index[graph.row_offsets[row]];
  Index no_edge = 0;
  while (std::find(graph.col_index.begin() + graph.row_offsets[row],
                   graph.col_index.begin() + graph.row_offsets[row + 1],
                   no_edge) != graph.col_index.begin() + graph.row_offsets[row + 1] ||
         std::find(good.begin(), good.end(), no_edge) != good.end())
    ++no_edge;
  Index twin = 0;  // an earlier row's column
  while (good[twin] == -1) ++twin;
  const auto message = [&](const Execution& execution, const CardinalityProblem& seen,
                           const std::vector<Index>& start, const char* setting) -> std::string {
    try {
      matching::make_cardinality_solver(setting)->solve(execution, seen, start);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  for (const Index wrong : {Index{-2}, Index{2500}, good[twin], no_edge}) {
    auto start = good;
    start[row] = wrong;
    const std::string expected = message({1}, problem, start, "push-relabel");
    INFO(expected << ", row " << row << " had " << first);
    CHECK(expected != "");
    for (const char* setting : kSettings) {
      INFO(setting);
      CHECK(message(on_gpu(workspace), problem, start, setting) == expected);
      CHECK(message({1, Backend::cuda}, problem, start, setting) == expected);
      // For graphs in device memory, pairs are not checked to be edges.
      if (wrong != no_edge) CHECK(message(on_gpu(workspace), there.view(), start, setting) == expected);
    }
  }
  CHECK(message(on_gpu(workspace), problem, std::vector<Index>(2999, -1), "push-relabel") ==
        message({1}, problem, std::vector<Index>(2999, -1), "push-relabel"));
}

TEST_CASE("an answer is the same size with memory kept between calls and without, and from no pairs at all") {
  MOTES_NEED_GPU();
  const auto graph = testing::random_graph(3, 200'000, 200'000, 4);
  const auto problem = problem_of(graph);
  Workspace workspace;
  const std::vector<Index> none(200'000, -1);
  const auto expected = matching::make_cardinality_solver("push-relabel")->solve({1}, problem);
  for (const char* setting : {"push-relabel", "ms-bfs-graft", "apfb", "apsb"}) {
    INFO(setting);
    const auto solver = matching::make_cardinality_solver(setting);
    for (const int threads : {1, 4}) {
      Execution kept = on_gpu(workspace);
      kept.threads = threads;
      for (const auto& execution : {kept, Execution{threads, Backend::cuda}}) {
        const auto answer = solver->solve(execution, problem, none);
        check_maximum(graph, answer, none);
        CHECK(answer.matching.cardinality == expected.matching.cardinality);
      }
    }
  }
}

TEST_CASE("searches for the shortest paths end alike in all blocks, time and again") {
  MOTES_NEED_GPU();
  // Many blocks and levels of a few microseconds: a block that comes late to one must not end the search
  // alone.
  const Index rows = 1 << 17;
  std::mt19937_64 rng(11);
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < rows; ++i)
    for (int k = 0; k < 12; ++k)
      edges.emplace_back(static_cast<Index>(rng() % rows * (rng() % rows) / rows),
                         static_cast<Index>(rng() % rows));
  const auto graph = testing::from_edges(rows, rows, edges);
  const matching::DeviceGraph there(problem_of(graph));
  Workspace workspace;
  for (const char* setting : {"apsb?kernel=bfs&threads=mt", "apsb?threads=mt", "apsb?kernel=bfs"}) {
    const auto solver = matching::make_cardinality_solver(setting);
    CardinalityAnswer answer;
    for (int k = 0; k < 40; ++k) answer = solver->solve(on_gpu(workspace), there.view());
    INFO(setting);
    check_maximum(graph, answer, {});
  }
}

TEST_CASE("the cheap start on the GPU is that of one thread, for any seed and in either space") {
  MOTES_NEED_GPU();
  Workspace workspace;
  const auto* cheap = matching::find_initialiser("cheap");
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto all = testing::large_graphs(seed);
    all.push_back({"small ones", stacked(testing::small_graphs(seed))});
    for (const auto& [name, graph] : all)
      for (const std::uint64_t drawn : {std::uint64_t{0}, seed + 8}) {
        INFO(name << " seed " << seed << ", drawn " << drawn);
        const auto expected = cheap->run({1}, problem_of(graph), drawn);
        const matching::DeviceGraph there(problem_of(graph));
        CHECK(cheap->run(on_gpu(workspace), problem_of(graph), drawn) == expected);
        CHECK(cheap->run(on_gpu(workspace), there.view(), drawn) == expected);
      }
  }
}

TEST_CASE("the Karp-Sipser start on the GPU is maximal, and maximum on forests") {
  MOTES_NEED_GPU();
  Workspace workspace;
  const auto* rule = matching::find_initialiser("karp-sipser");
  std::vector<std::pair<Index, Index>> tree;  // columns hang on earlier rows, rows on earlier columns
  for (Index k = 1; k < 30000; ++k) {
    tree.emplace_back(static_cast<Index>(k * 7919LL % k), k);
    tree.emplace_back(k, static_cast<Index>(k * 104729LL % k));
  }
  std::vector<testing::GraphInstance> forests{{"forest", testing::from_edges(30000, 30000, tree)},
                                              {"chain", testing::chain_graph(3000, true)},
                                              {"open chain", testing::chain_graph(3000, false)}};
  auto all = testing::large_graphs(4);
  all.push_back({"small ones", stacked(testing::small_graphs(4))});
  const std::size_t others = all.size();
  for (auto& forest : forests) all.push_back(std::move(forest));
  for (std::size_t k = 0; k < all.size(); ++k) {
    const BipartiteGraph& graph = all[k].graph;
    INFO(all[k].name);
    const matching::DeviceGraph there(problem_of(graph));
    for (const auto& problem : {problem_of(graph), there.view()}) {
      matching::Matching answer;
      answer.row_to_col = rule->run(on_gpu(workspace), problem, k);
      answer.col_to_row.assign(graph.cols, -1);
      for (Index i = 0; i < graph.rows; ++i)
        if (answer.row_to_col[i] != -1) {
          answer.col_to_row[answer.row_to_col[i]] = i;
          ++answer.cardinality;
        }
      const auto cover =
          k < others ? matching::VertexCover{} : matching::koenig_cover(problem_of(graph), answer);
      const auto certificate = matching::verify(problem_of(graph), answer, cover);
      REQUIRE(certificate.matching_valid);
      CHECK((k < others || certificate.maximum()));
      for (Index i = 0; i < graph.rows; ++i)
        for (auto e = graph.row_offsets[i]; e < graph.row_offsets[i + 1]; ++e)
          if (answer.row_to_col[i] == -1 && answer.col_to_row[graph.col_index[e]] == -1)
            FAIL("row " << i << " and column " << graph.col_index[e] << " are both free");
    }
  }
}
