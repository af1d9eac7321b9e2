// Every kernel of the cardinality solvers and of their starts, on graphs of a few hundred rows: a GPU's
// memory and race checkers are hundreds of times slower than the kernels (scripts/sanitize_gpu.sh).

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
using matching::CardinalityProblem;
using matching::Index;

namespace {

using Edges = std::vector<std::pair<Index, Index>>;

BipartiteGraph without_repeats(Index rows, Index cols, Edges edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return testing::from_edges(rows, cols, edges);
}

/// Rows that compete for the columns near the first, one column that most rows know, and one row of many
/// columns: lists that a thread, a warp and a block take.
BipartiteGraph crowded() {
  constexpr Index kRows = 760, kCols = 700;
  std::mt19937_64 rng(3);
  Edges edges;
  for (Index i = 0; i < kRows; ++i) {
    for (Index k = 0; k < 1 + i % 4; ++k)
      edges.emplace_back(i, static_cast<Index>(rng() % kCols * (rng() % kCols) / kCols));
    if (i % 5 != 0) edges.emplace_back(i, 0);
  }
  for (Index j = 0; j < kCols; j += 2) edges.emplace_back(7, j);
  return without_repeats(kRows, kCols, std::move(edges));
}

/// Stars, a path and trees that hang on a core of 40 rows: most is decided by vertices of degree one.
BipartiteGraph hanging() {
  std::mt19937_64 rng(5);
  const auto below = [&](Index bound) { return static_cast<Index>(rng() % static_cast<unsigned>(bound)); };
  Edges edges;
  Index rows = 40, cols = 40;
  for (Index i = 0; i < rows; ++i)
    for (int k = 0; k < 3; ++k) edges.emplace_back(i, below(cols));
  for (int star = 0; star < 4; ++star) {
    const bool row = star % 2 == 0;
    const Index hub = row ? rows++ : cols++;
    for (int leaf = 0; leaf < 40 + 30 * star; ++leaf)
      edges.emplace_back(row ? hub : rows++, row ? cols++ : hub);
    edges.emplace_back(row ? hub : below(40), row ? below(40) : hub);
  }
  for (Index k = 0, last = below(40); k < 60; ++k) {
    edges.emplace_back(last, cols);
    last = rows++;
    edges.emplace_back(last, cols++);
  }
  for (Index k = 0; k < 200; ++k) {
    edges.emplace_back(below(rows), cols++);
    edges.emplace_back(rows++, below(cols));
  }
  return without_repeats(rows, cols, std::move(edges));
}

/// Solves from nothing and from every third pair that a start gives, with the graph on the host and on the
/// device, and proves both.
void check(const BipartiteGraph& graph, const std::vector<const char*>& settings) {
  const CardinalityProblem problem{graph.view(), {}, {}};
  const auto columns = matching::transpose(graph.view(), 1);
  const CardinalityProblem sided{graph.view(), columns.col_offsets, columns.row_index};
  const matching::DeviceGraph there(sided);
  std::vector<Index> start = matching::find_initialiser("cheap")->run({1}, problem, 0);
  for (std::size_t i = 0; i < start.size(); ++i)
    if (i % 3 != 0) start[i] = -1;
  Workspace workspace;
  Execution execution{1, Backend::cuda};
  execution.workspace = &workspace;
  for (const char* setting : settings) {
    INFO(setting << ", " << graph.rows << " rows");
    const auto solver = matching::make_cardinality_solver(setting);
    for (const bool cold : {true, false}) {
      const auto answer = solver->solve(execution, cold ? problem : there.view(),
                                        cold ? std::span<const Index>() : std::span<const Index>(start));
      const auto cover = matching::koenig_cover(problem, answer.matching);
      CHECK(matching::verify(problem, answer.matching, cover).maximum());
    }
  }
}

}  // namespace

TEST_CASE("for the memory and race checkers: push-relabel and peeling") {
  MOTES_NEED_GPU();
  check(crowded(), {"push-relabel", "push-relabel?chain=3"});
  check(hanging(), {"push-relabel", "push-relabel?chain=1"});
}

TEST_CASE("for the memory and race checkers: searches from all rows, and grafting") {
  MOTES_NEED_GPU();
  check(crowded(), {"ms-bfs", "ms-bfs?direction=1&alpha=1", "ms-bfs-graft", "ms-bfs-graft?finish=0",
                    "ms-bfs-graft?direction=0&finish=0", "ms-bfs-graft?alpha=1&graft=0&finish=0"});
}

TEST_CASE("for the memory and race checkers: apfb and apsb") {
  MOTES_NEED_GPU();
  check(crowded(), {"apfb", "apfb?kernel=bfs&threads=mt&start=none", "apfb?threads=mt", "apsb",
                    "apsb?kernel=bfs&threads=mt&start=none", "apsb?threads=mt"});
}

TEST_CASE("for the memory and race checkers: starts of the cardinality solvers") {
  MOTES_NEED_GPU();
  Workspace workspace;
  Execution execution{1, Backend::cuda};
  execution.workspace = &workspace;
  for (const auto& graph : {crowded(), hanging()}) {
    const CardinalityProblem problem{graph.view(), {}, {}};
    const matching::DeviceGraph there(problem);
    for (const char* name : {"cheap", "karp-sipser"})
      for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{5}}) {
        INFO(name << " seed " << seed);
        matching::Matching answer;
        answer.row_to_col = matching::find_initialiser(name)->run(execution, there.view(), seed);
        answer.col_to_row.assign(static_cast<std::size_t>(graph.cols), -1);
        for (Index i = 0; i < graph.rows; ++i) {
          if (answer.row_to_col[i] == -1) continue;
          answer.col_to_row[answer.row_to_col[i]] = i;
          ++answer.cardinality;
        }
        CHECK(matching::verify(problem, answer, {}).matching_valid);
      }
  }
}
