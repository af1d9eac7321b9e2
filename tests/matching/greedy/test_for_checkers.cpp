// Every kernel of greedy matching and of coarser graphs, on small graphs: a GPU's memory and race checkers
// are hundreds of times slower than the kernels (scripts/sanitize_gpu.sh).

#include <catch2/catch.hpp>

#include <motes/base/gpu/device.h>
#include <motes/matching/coarsen.h>
#include <motes/matching/registry.h>

#include "matching/greedy/suitor/device_suitor.h"
#include "tests/support/skip.h"
#include "tests/support/weighted_graphs.h"

using namespace motes;
using matching::GraphKind;
using matching::Index;

namespace {

Execution on_gpu(Workspace& workspace) {
  Execution execution;
  execution.backend = Backend::cuda;
  execution.workspace = &workspace;
  return execution;
}

/// Of these sizes the graphs in which something is chosen: with hubs, and with ties.
std::vector<testing::WeightedInstance> graphs() {
  std::vector<testing::WeightedInstance> out;
  for (auto& instance : testing::weighted_graphs(330, 4)) {
    const std::string& name = instance.name;
    if (name.starts_with("hub 2.5") || name.starts_with("hub pairs 2.5") || name.starts_with("cycle") ||
        name.starts_with("star") || name.starts_with("loops") || name.starts_with("random 6"))
      out.push_back(std::move(instance));
  }
  return out;
}

/// One vertex of more neighbours than a warp takes, and rising weights, so that proposals go round.
matching::WeightedGraph great_hub() {
  std::vector<testing::WeightedEdge> edges;
  for (Index v = 1; v <= 4200; ++v) edges.emplace_back(0, v, v % 97);
  for (Index v = 1; v < 4200; v += 40) edges.emplace_back(v, v + 1, 50);
  return testing::general_graph(4201, edges);
}

}  // namespace

TEST_CASE("for the memory and race checkers: the suitors' launches") {
  MOTES_NEED_GPU();
  using matching::device::SuitorPlan;
  Workspace workspace;
  auto all = graphs();
  all.push_back({"great hub", great_hub()});
  std::size_t turn = 0;
  for (const auto& [name, own] : all) {
    const auto kind = testing::kWeightKinds[turn++ % std::size(testing::kWeightKinds)];
    const auto graph = testing::with_weights(own, kind, 6);
    const auto sorted = matching::make_greedy_solver("greedy-sorted")->solve({1}, graph.view());
    for (const auto plan : {SuitorPlan::wide_last, SuitorPlan::wide_first, SuitorPlan::pairs_first}) {
      INFO(name << " weights " << kind << " plan " << static_cast<int>(plan));
      matching::GreedyAnswer answer;
      matching::device::greedy_suitor(on_gpu(workspace), graph.view(), answer, plan);
      CHECK(answer.matching.row_to_col == sorted.matching.row_to_col);
    }
  }
}

TEST_CASE("for the memory and race checkers: greedy proposals") {
  MOTES_NEED_GPU();
  Workspace workspace;
  for (const auto& [name, graph] : graphs())
    for (const char* setting : {"greedy-proposal", "greedy-proposal?blue=0.9&select=random"}) {
      INFO(setting << " " << name);
      const auto solver = matching::make_greedy_solver(setting);
      CHECK(solver->solve(on_gpu(workspace), graph.view()).matching.row_to_col ==
            solver->solve({1}, graph.view()).matching.row_to_col);
    }
}

TEST_CASE("for the memory and race checkers: coarser graphs") {
  MOTES_NEED_GPU();
  Workspace workspace;
  const auto solver = matching::make_greedy_solver("greedy-suitor");
  for (const auto& [name, graph] : graphs()) {
    if (graph.kind != GraphKind::general || name.starts_with("star")) continue;
    for (const auto by : {matching::CoarsenBy::weight, matching::CoarsenBy::density}) {
      INFO(name << " by " << static_cast<int>(by));
      const auto there = coarsen_to(on_gpu(workspace), graph.view(), *solver, 60, 0.95, by);
      const auto here = coarsen_to({1}, graph.view(), *solver, 60, 0.95, by);
      REQUIRE(there.size() == here.size());
      CHECK(there.back().graph.col_index == here.back().graph.col_index);
      CHECK(there.back().weights == here.back().weights);
      const auto end = coarsest_of(on_gpu(workspace), graph.view(), *solver, {60, 0.95, by});
      CHECK(end.graph.graph.col_index == here.back().graph.col_index);
    }
  }
}
