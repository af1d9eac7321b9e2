// Every cardinality solver of the registry, in every setting of its options, against brute force and against
// Koenig covers.

#include <algorithm>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/koenig.h>
#include <motes/matching/registry.h>

#include "tests/support/graphs.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::CardinalityAnswer;
using matching::CardinalityProblem;
using matching::Index;
using matching::SolverInfo;

namespace {

CardinalityProblem problem_of(const BipartiteGraph& graph) { return {graph.view(), {}, {}}; }

/// The defaults, and each option at each of its words or at three of its numbers, the others as they are.
std::vector<std::string> settings_of(const SolverInfo& info) {
  std::vector<std::string> all{std::string(info.name)};
  for (const auto& option : info.options) {
    std::vector<std::string> values;
    std::string words(option.values);
    if (const auto dots = words.find(".."); dots != std::string::npos) {
      values = {words.substr(0, dots), words.substr(dots + 2), "3"};
    } else {
      for (std::size_t begin = 0; begin <= words.size();) {
        const std::size_t end = std::min(words.find('|', begin), words.size());
        values.push_back(words.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    for (const auto& value : values)
      if (value != option.otherwise)
        all.push_back(std::string(info.name) + "?" + std::string(option.name) + "=" + value);
  }
  return all;
}

std::vector<std::string> all_settings() {
  std::vector<std::string> all;
  for (const auto& info : matching::solvers()) {
    if (info.family() != matching::Family::cardinality || !info.backends.contains(Backend::cpu)) continue;
    for (auto& setting : settings_of(info)) all.push_back(std::move(setting));
  }
  // Combinations that the papers name: grafting with no choice of direction, neither, and both for small
  // alpha.
  for (const char* more : {"ms-bfs-graft?direction=0&finish=0", "ms-bfs-graft?direction=0&graft=0&finish=0",
                           "ms-bfs-graft?alpha=1&finish=0", "ms-bfs?direction=1&alpha=1",
                           "push-relabel?queue_limit=1&relabel_frequency=50"})
    all.push_back(more);
  return all;
}

enum class StartKind { none, cheap, partial, maximum };
constexpr StartKind kStarts[] = {StartKind::none, StartKind::cheap, StartKind::partial, StartKind::maximum};

std::vector<Index> start_of(StartKind kind, const BipartiteGraph& graph, std::uint64_t seed) {
  if (kind == StartKind::none) return {};
  if (kind == StartKind::maximum)
    return matching::make_cardinality_solver("ss-bfs")->solve({1}, problem_of(graph)).matching.row_to_col;
  std::mt19937_64 rng(seed);
  std::vector<Index> row_to_col(graph.rows, -1);
  std::vector<char> taken(graph.cols, 0);
  for (Index i = 0; i < graph.rows; ++i) {
    if (kind == StartKind::partial && rng() % 2 == 0) continue;
    for (auto e = graph.row_offsets[i]; e < graph.row_offsets[i + 1] && row_to_col[i] == -1; ++e) {
      const Index j = graph.col_index[e];
      if (taken[j] != 0 || (kind == StartKind::partial && rng() % 2 == 0)) continue;
      taken[j] = 1;
      row_to_col[i] = j;
    }
  }
  return row_to_col;
}

void check_maximum(const BipartiteGraph& graph, const CardinalityAnswer& answer) {
  REQUIRE(answer.matching.status == matching::Status::optimal);
  const auto cover = matching::koenig_cover(problem_of(graph), answer.matching);
  const auto certificate = matching::verify(problem_of(graph), answer.matching, cover);
  REQUIRE(certificate.fault == "");
  REQUIRE(certificate.maximum());
  CHECK(answer.matching.objective == static_cast<double>(answer.matching.cardinality));
  CHECK(answer.matching.dual_objective == answer.matching.objective);
  CHECK(answer.matching.gap == 0);
}

/// The counts of augmenting paths are right.
void check_counts(const CardinalityAnswer& answer) {
  const auto& stats = answer.stats;
  CHECK(answer.matching.stats.initial_assignments + stats.augmentations == answer.matching.cardinality);
  if (!stats.augmented.empty() && stats.pushes == 0)
    CHECK(std::accumulate(stats.augmented.begin(), stats.augmented.end(), std::int64_t{0}) ==
          stats.augmentations);
  if (stats.path_edges != 0 && stats.pushes == 0) CHECK(stats.path_edges >= stats.augmentations);
  for (std::size_t k = 0; k < stats.frontiers.size(); ++k)
    CHECK(stats.levels[k] == std::ssize(stats.frontiers[k]));
}

}  // namespace

TEST_CASE("every cardinality solver agrees with brute force and proves it") {
  const auto settings = all_settings();
  REQUIRE(settings.size() > 20);
  std::vector<std::unique_ptr<matching::CardinalitySolver>> solvers;
  for (const auto& setting : settings) solvers.push_back(matching::make_cardinality_solver(setting));
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    for (const auto& [name, graph] : testing::small_graphs(seed)) {
      const auto best = testing::brute_force_cardinality(graph.view());
      const auto columns = matching::transpose(graph.view(), 1);
      for (std::size_t k = 0; k < solvers.size(); ++k) {
        const auto kind = kStarts[(seed + k) % 4];
        INFO(settings[k] << " " << name << " start " << static_cast<int>(kind));
        // In every second seed the columns' side is given.
        CardinalityProblem problem = problem_of(graph);
        if (seed % 2 == 0) problem = {graph.view(), columns.col_offsets, columns.row_index};
        const auto answer = solvers[k]->solve({1}, problem, start_of(kind, graph, seed));
        REQUIRE(answer.matching.cardinality == best);
        check_maximum(graph, answer);
        check_counts(answer);
      }
    }
  }
}

TEST_CASE("every cardinality solver proves large graphs, from any start, on any number of threads") {
  const auto settings = all_settings();
  const std::uint64_t seed = 1;
  constexpr int kThreads[] = {1, 2, 4};
  std::size_t turn = 0;  // kinds of start and numbers of threads take turns
  for (const auto& [name, graph] : testing::large_graphs(seed)) {
    std::vector<std::vector<Index>> starts;
    for (const StartKind kind : kStarts) starts.push_back(start_of(kind, graph, seed));
    const auto best = std::ssize(starts.back()) - std::count(starts.back().begin(), starts.back().end(), -1);
    for (const auto& setting : settings) {
      const auto solver = matching::make_cardinality_solver(setting);
      // Defaults on one thread and on four, single options on one number of threads, which take turns.
      const bool is_default = setting.find('?') == std::string::npos;
      const std::vector<int> all_threads = is_default ? std::vector{1, 4} : std::vector{kThreads[turn % 3]};
      for (const int threads : all_threads) {
        const std::size_t kind = threads == 4 ? 0 : turn % 4;  // nothing to start from: the most to do
        ++turn;
        INFO(setting << " " << name << " threads " << threads << " start " << kind);
        const auto answer = solver->solve({threads}, problem_of(graph), starts[kind]);
        check_maximum(graph, answer);
        check_counts(answer);
        REQUIRE(answer.matching.cardinality == best);
      }
    }
  }
}

TEST_CASE("cardinality solvers follow paths of 1e5 vertices and more without recursion") {
  // Matched so that the one augmenting path has all vertices on it.
  const Index rows = 60'000;  // 1.2e5 vertices
  const auto graph = testing::chain_graph(rows, true);
  REQUIRE(graph.cols == rows);
  std::vector<Index> shifted(rows, -1);
  for (Index i = 1; i < rows; ++i) shifted[i] = i - 1;
  for (const auto& setting : all_settings()) {
    for (const int threads : {1, 3}) {
      INFO(setting << " threads " << threads);
      const auto answer =
          matching::make_cardinality_solver(setting)->solve({threads}, problem_of(graph), shifted);
      CHECK(answer.matching.cardinality == rows);
      check_maximum(graph, answer);
      if (answer.stats.pushes == 0) CHECK(answer.stats.path_edges == 2 * std::int64_t{rows} - 1);
    }
  }
}

TEST_CASE("cardinality solvers refuse malformed graphs and starts") {
  const auto graph = testing::from_edges(3, 2, {{0, 0}, {0, 1}, {1, 1}});
  const auto unsorted = std::vector<Index>{1, 0, 1};
  CardinalityProblem bad = problem_of(graph);
  bad.graph.col_index = unsorted;
  for (const auto& info : matching::solvers()) {
    if (info.family() != matching::Family::cardinality) continue;
    INFO(info.name);
    const auto solver = info.make_cardinality();
    CHECK_THROWS_AS(solver->solve({1}, bad), std::invalid_argument);
    int threads = 1;
    const auto fault = [&](std::vector<Index> start) -> std::string {
      try {
        solver->solve({threads}, problem_of(graph), start);
      } catch (const std::invalid_argument& error) {
        return error.what();
      }
      return "none";
    };
    if (info.backends.contains(Backend::cpu))
      CHECK(fault({0, 1, -1}) == "none");
    else
      CHECK_THROWS_AS(solver->solve({1}, problem_of(graph)), ResourceError);
    CHECK(fault({0, 1}) == "start: 2 rows, but the graph has 3");
    CHECK(fault({1, 1, -1}) == "start: row 1 with column 1: the column is taken by row 0");
    CHECK(fault({1, 0, -1}) == "start: row 1 with column 0: that is not an edge");
    CHECK(fault({2, -1, -1}) == "start: row 0 with column 2: there is no such column");
    CHECK(fault({-2, -1, -1}) == "start: row 0 with column -2: there is no such column");
    threads = 3;
    CHECK(fault({1, 1, -1}) == "start: row 1 with column 1: the column is taken by row 0");
    CHECK(fault({1, 0, -1}) == "start: row 1 with column 0: that is not an edge");
    if (!info.backends.contains(Backend::cuda)) {
      Execution cuda{1, Backend::cuda};
      CHECK_THROWS_AS(solver->solve(cuda, problem_of(graph)), ResourceError);
    }
    CardinalityProblem device = problem_of(graph);
    device.space = matching::Space::device;
    CHECK_THROWS_AS(solver->solve({1}, device), std::invalid_argument);
  }
}

TEST_CASE("cardinality solvers are asked for by name and options") {
  CHECK_NOTHROW(matching::make_cardinality_solver("pf?fairness=0"));
  CHECK_THROWS_WITH(matching::make_cardinality_solver("pf?fairness=2"), Catch::Contains("1|0"));
  CHECK_THROWS_WITH(matching::make_cardinality_solver("hk?fairness=1"), Catch::Contains("fairness"));
  CHECK_THROWS_WITH(matching::make_cardinality_solver("jv"), Catch::Contains("'jv'"));
  CHECK_THROWS_WITH(matching::make_cardinality_solver("none-such"), Catch::Contains("'none-such'"));
  for (const auto& info : matching::solvers()) {
    INFO(info.name);
    // A factory of another family is refused in words, not by a null pointer.
    const auto family = info.family();
    if (family == matching::Family::assignment)
      CHECK(info.make() != nullptr);
    else
      CHECK_THROWS_WITH(info.make(), Catch::Contains(std::string(info.name)));
    if (family == matching::Family::cardinality)
      CHECK(info.make_cardinality() != nullptr);
    else
      CHECK_THROWS_WITH(info.make_cardinality(), Catch::Contains(std::string(info.name)));
    if (family == matching::Family::greedy)
      CHECK(info.make_greedy() != nullptr);
    else
      CHECK_THROWS_WITH(info.make_greedy(), Catch::Contains(std::string(info.name)));
  }
}

TEST_CASE("each phase of Hopcroft and Karp has longer paths than the one before") {
  // What a maximal set of disjoint shortest paths guarantees, and nothing less does.
  for (const auto& [name, graph] : testing::large_graphs(3)) {
    for (const int threads : {1, 3}) {
      INFO(name << " threads " << threads);
      const auto stats = matching::make_cardinality_solver("hk")->solve({threads}, problem_of(graph)).stats;
      REQUIRE(stats.levels.size() == stats.augmented.size());
      for (std::size_t k = 1; k < stats.levels.size() && stats.augmented[k] != 0; ++k)
        CHECK(stats.levels[k] > stats.levels[k - 1]);
    }
  }
}

TEST_CASE("ms-bfs-graft leaves to push-relabel what its trees would go over again and again") {
  const auto sparse = testing::random_graph(1, 40000, 40000, 2.8);
  const auto stats = [](const char* solver, const auto& graph) {
    return matching::make_cardinality_solver(solver)->solve({1}, problem_of(graph)).stats;
  };
  const auto paper = stats("ms-bfs-graft?finish=0", sparse), ours = stats("ms-bfs-graft", sparse);
  CHECK(paper.pushes == 0);
  CHECK(ours.pushes > 0);
  CHECK(ours.edges_traversed < paper.edges_traversed);
  // The number of paths per phase falls fast here, so the trees finish by themselves.
  CHECK(stats("ms-bfs-graft", testing::random_graph(1, 40000, 40000, 12)).pushes == 0);
}

TEST_CASE("searches from one row at a time hide the trees that failed") {
  // Two thirds of the rows want the same few columns: each failed tree is looked at once.
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < 300; ++i)
    for (Index j = 0; j < 100; ++j) edges.emplace_back(i, j);
  const auto graph = testing::from_edges(300, 100, edges);
  for (const char* name : {"ss-bfs", "ss-dfs"}) {
    INFO(name);
    const auto answer = matching::make_cardinality_solver(name)->solve({1}, problem_of(graph));
    CHECK(answer.matching.cardinality == 100);
    CHECK(answer.stats.phases == 300);
    // 100 rows at most go through each other's columns; of the failed ones the first sees all, the rest their
    // own.
    CHECK(answer.stats.edges_traversed < 100 * 100 * 100);
    CHECK(answer.stats.edges_traversed >= 200 * 100);
  }
}
