// Every greedy solver of the registry, in every setting of its options, on every family of graphs and every
// type of weights: certificates, brute force, and one matching for all sorted forms.

#include <numeric>

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>
#include <motes/matching/verify_greedy.h>

#include "tests/support/weighted_graphs.h"

using namespace motes;
using matching::GraphKind;
using matching::GreedyAnswer;
using matching::GreedyProblem;
using matching::Index;

namespace {

std::vector<std::string> all_settings() {
  return {"greedy-suitor",
          "greedy-sorted",
          "greedy-proposal",
          "greedy-proposal?select=random",
          "greedy-proposal?blue=0.2&seed=0",
          "greedy-proposal?blue=0.9&seed=4294967295&select=random",
          "greedy-weighted",
          "greedy-weighted?seed=0",
          "greedy-random",
          "greedy-random?seed=0",
          "greedy-random?seed=77"};
}

bool is_sorted_form(const std::string& setting) {
  return matching::find_solver(matching::split_solver_name(setting).first)->guarantee ==
         matching::Guarantee::half_weight;
}

void check_counts(const std::string& setting, const GreedyAnswer& answer) {
  const auto& stats = answer.stats;
  const auto gained = std::accumulate(stats.matched.begin(), stats.matched.end(), std::int64_t{0});
  if (!stats.matched.empty()) CHECK(gained == answer.matching.cardinality);
  if (setting.starts_with("greedy-proposal")) {
    CHECK(stats.rounds == std::ssize(stats.matched));
    CHECK(stats.proposals >= answer.matching.cardinality);
  }
}

}  // namespace

TEST_CASE("every greedy solver gives a maximal matching, the sorted forms the same one") {
  const auto settings = all_settings();
  std::vector<std::unique_ptr<matching::GreedySolver>> solvers;
  for (const auto& setting : settings) solvers.push_back(matching::make_greedy_solver(setting));
  // All sizes up to 40, then some up to 300; kinds of weights take turns.
  std::vector<Index> sizes(41);
  std::iota(sizes.begin(), sizes.end(), 0);
  for (Index n = 45; n <= 300; n += 17) sizes.push_back(n);
  std::size_t turn = 0;
  for (const Index n : sizes) {
    for (const auto& instance : testing::weighted_graphs(n, 1)) {
      const auto kind = testing::kWeightKinds[turn++ % std::size(testing::kWeightKinds)];
      for (const bool own : {true, false}) {
        const auto graph = own ? instance.graph : testing::with_weights(instance.graph, kind, 1);
        const GreedyProblem problem = graph.view();
        std::vector<Index> sorted;
        for (std::size_t k = 0; k < solvers.size(); ++k) {
          INFO(settings[k] << " " << instance.name << " weights " << (own ? "own" : kind));
          const GreedyAnswer answer = solvers[k]->solve({1}, problem);
          REQUIRE(answer.matching.status == matching::Status::heuristic);
          const auto certificate = matching::verify(problem, answer.matching);
          REQUIRE(certificate.matching_valid);
          REQUIRE(certificate.maximal);
          REQUIRE(certificate.upper_bound >= certificate.weight * (1 - 1e-12));
          if (is_sorted_form(settings[k])) {
            REQUIRE(certificate.fault == "");
            REQUIRE(certificate.dominant);
            if (sorted.empty()) sorted = answer.matching.row_to_col;
            REQUIRE(answer.matching.row_to_col == sorted);
          }
          check_counts(settings[k], answer);
        }
      }
    }
  }
}

TEST_CASE("greedy matchings are the same for any number of threads") {
  // Large enough for several threads, with hubs that many of them propose to at once.
  const Index n = 12'000;
  std::size_t turn = 0;
  for (const auto& instance : testing::weighted_graphs(n, 1)) {
    const auto kind = testing::kWeightKinds[turn++ % std::size(testing::kWeightKinds)];
    const auto graph = testing::with_weights(instance.graph, kind, 1);
    std::vector<Index> sorted;
    for (const auto& setting : all_settings()) {
      INFO(setting << " " << instance.name << " weights " << kind);
      const auto solver = matching::make_greedy_solver(setting);
      const GreedyAnswer answer = solver->solve({1}, graph.view());
      if (is_sorted_form(setting)) {
        if (sorted.empty()) sorted = answer.matching.row_to_col;
        REQUIRE(answer.matching.row_to_col == sorted);
      }
      for (const int threads : {2, 5}) {
        const GreedyAnswer again = solver->solve({threads}, graph.view());
        REQUIRE(again.matching.row_to_col == answer.matching.row_to_col);
        REQUIRE(again.matching.col_to_row == answer.matching.col_to_row);
        REQUIRE(again.matching.objective == answer.matching.objective);
        REQUIRE(again.stats.matched == answer.stats.matched);
        const auto one = matching::verify(graph.view(), answer.matching, 1),
                   more = matching::verify(graph.view(), answer.matching, threads);
        REQUIRE(one.matching_valid);
        REQUIRE(one.maximal);
        REQUIRE(one.fault == more.fault);
        REQUIRE(one.upper_bound == more.upper_bound);
      }
    }
  }
}

TEST_CASE("greedy matchings of small graphs weigh at least half of the best") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (Index n = 0; n <= 11; ++n)
      for (const auto& instance : testing::weighted_graphs(n, seed)) {
        INFO(instance.name);
        const GreedyProblem problem = instance.graph.view();
        const double best = testing::brute_force_weight(problem);
        for (const char* name : {"greedy-suitor", "greedy-sorted"}) {
          const auto answer = matching::make_greedy_solver(name)->solve({1}, problem);
          REQUIRE(2 * answer.matching.objective >= best);
          REQUIRE(verify(problem, answer.matching).upper_bound >= best);
        }
        for (const char* name : {"greedy-random", "greedy-proposal"}) {
          const auto answer = matching::make_greedy_solver(name)->solve({1}, problem);
          REQUIRE(verify(problem, answer.matching).upper_bound >= best);
        }
      }
}

TEST_CASE("a bipartite graph and its general form have the same greedy matching") {
  for (const Index n : {5, 40, 300})
    for (const auto& instance : testing::weighted_graphs(n, 2)) {
      if (instance.graph.kind != GraphKind::bipartite) continue;
      for (const auto kind : testing::kWeightKinds) {
        const auto graph = testing::with_weights(instance.graph, kind, 3);
        const auto general = matching::to_general(graph.view(), 2);
        CHECK_NOTHROW(matching::check_problem(general.view()));
        for (const char* name :
             {"greedy-suitor", "greedy-sorted", "greedy-proposal", "greedy-weighted", "greedy-random"}) {
          INFO(name << " " << instance.name << " weights " << kind);
          const auto solver = matching::make_greedy_solver(name);
          const auto pairs = solver->solve({1}, graph.view()).matching;
          const auto mates = solver->solve({1}, general.view()).matching;
          CHECK(pairs.cardinality == mates.cardinality);
          CHECK(mates.col_to_row.empty());
          const Index rows = graph.graph.rows;
          for (Index i = 0; i < rows; ++i)
            REQUIRE(mates.row_to_col[i] == (pairs.row_to_col[i] == -1 ? -1 : pairs.row_to_col[i] + rows));
        }
      }
    }
}

TEST_CASE("weights of a type give the matching of their order, whatever the type") {
  for (const auto& instance : testing::weighted_graphs(60, 4)) {
    const auto floats = testing::with_weights(instance.graph, "small int64", 5);
    auto doubles = floats, large = floats;
    std::vector<double> far;
    std::vector<std::int64_t> whole;
    for (const std::int64_t w : std::get<std::vector<std::int64_t>>(floats.weights)) {
      far.push_back(0.1 * static_cast<double>(w));   // no floats
      whole.push_back((std::int64_t{1} << 60) + w);  // neither
    }
    doubles.weights = far;
    large.weights = whole;
    const auto solver = matching::make_greedy_solver("greedy-suitor");
    const auto expected = solver->solve({1}, floats.view()).matching.row_to_col;
    CHECK(solver->solve({1}, doubles.view()).matching.row_to_col == expected);
    CHECK(solver->solve({3}, large.view()).matching.row_to_col == expected);
  }
}

TEST_CASE("seeds change random greedy matchings, and the same seed repeats them") {
  const auto graph = testing::with_weights(testing::weighted_graphs(300, 6).back().graph, "unit", 1);
  for (const std::string name : {"greedy-random", "greedy-proposal"}) {
    const auto with = [&](const char* seed) {
      return matching::make_greedy_solver(name + "?seed=" + seed)
          ->solve({1}, graph.view())
          .matching.row_to_col;
    };
    CHECK(with("1") == with("1"));
    CHECK(with("1") != with("2"));
  }
}

TEST_CASE("greedy solvers are asked for by name and options") {
  CHECK_NOTHROW(matching::make_greedy_solver("greedy-proposal?blue=.5"));
  CHECK_THROWS_WITH(matching::make_greedy_solver("greedy-proposal?blue=1"), Catch::Contains("0.01..0.99"));
  CHECK_THROWS_WITH(matching::make_greedy_solver("greedy-proposal?blue=x"), Catch::Contains("0.01..0.99"));
  CHECK_THROWS_WITH(matching::make_greedy_solver("greedy-random?seed=-1"), Catch::Contains("seed"));
  CHECK_THROWS_WITH(matching::make_greedy_solver("greedy-sorted?seed=1"), Catch::Contains("none"));
  CHECK_THROWS_WITH(matching::make_greedy_solver("hk"), Catch::Contains("'hk'"));
  CHECK_THROWS_WITH(matching::make_greedy_solver("none-such"), Catch::Contains("'none-such'"));
  const auto small = testing::general_graph(2, {{0, 1, 1.0}});
  CHECK(matching::choose_greedy_solver(small.view()).info->name == "greedy-suitor");
  CHECK(matching::choose_greedy_solver(small.view(), Backend::automatic, matching::Gpu::started).backend == Backend::cpu);
  CHECK(matching::choose_greedy_solver(small.view(), Backend::cuda, matching::Gpu::started).backend == Backend::cuda);
}

TEST_CASE("greedy solvers without a CUDA form say so, and device graphs need one") {
  const auto graph = testing::general_graph(3, {{0, 1, 1.0}, {1, 2, 2.0}});
  for (const auto& info : matching::solvers()) {
    if (info.family() != matching::Family::greedy) continue;
    INFO(info.name);
    const auto solver = info.make_greedy();
    if (!info.backends.contains(Backend::cuda))
      CHECK_THROWS_AS(solver->solve({1, Backend::cuda}, graph.view()), ResourceError);
    GreedyProblem device = graph.view();
    device.space = matching::Space::device;
    CHECK_THROWS_AS(solver->solve({1}, device), std::invalid_argument);
  }
}
