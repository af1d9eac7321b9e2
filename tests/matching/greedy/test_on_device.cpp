// The CUDA forms of greedy matching: the same bits as the CPU forms, on every family of graphs and every type
// of weights, from both kinds of memory.

#include <optional>
#include <tuple>
#include <utility>

#include <catch2/catch.hpp>

#include <motes/base/gpu/device.h>
#include <motes/matching/coarsen.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify_greedy.h>

#include "matching/greedy/suitor/device_suitor.h"
#include "tests/support/skip.h"
#include "tests/support/weighted_graphs.h"

using namespace motes;
using gpu::DeviceArray;
using matching::GraphKind;
using matching::GreedyAnswer;
using matching::GreedyProblem;
using matching::Index;

namespace {

/// A problem in device memory. With `shifted`, columns and weights are not aligned to 16 bytes.
class OnDevice {
 public:
  explicit OnDevice(const GreedyProblem& host, bool shifted = false)
      : offsets_(host.graph.row_offsets), cols_(padded(host.graph.col_index, shifted)), view_(host) {
    view_.space = matching::Space::device;
    view_.graph.row_offsets = offsets_.span();
    view_.graph.col_index = cols_.span().subspan(shifted ? 1 : 0);
    std::visit(
        [&]<class T>(std::span<const T> weights) {
          if (weights.empty()) return;
          auto& room = std::get<std::optional<gpu::DeviceArray<T>>>(weights_);
          room.emplace(padded(weights, shifted));
          view_.weights = room->span().subspan(shifted ? 1 : 0);
        },
        host.weights);
  }
  const GreedyProblem& view() const { return view_; }

 private:
  template <class T>
  static gpu::DeviceArray<T> padded(std::span<const T> values, bool shifted) {
    std::vector<T> all(shifted ? 1 : 0);
    all.insert(all.end(), values.begin(), values.end());
    return gpu::DeviceArray<T>(std::span<const T>(all));
  }

  gpu::DeviceArray<matching::Offset> offsets_;
  gpu::DeviceArray<Index> cols_;
  std::tuple<std::optional<gpu::DeviceArray<float>>, std::optional<gpu::DeviceArray<double>>,
             std::optional<gpu::DeviceArray<std::int64_t>>>
      weights_;
  GreedyProblem view_;
};

const std::vector<std::string> kSettings = {
    "greedy-suitor", "greedy-proposal", "greedy-proposal?select=random", "greedy-proposal?blue=0.2&seed=7",
    "greedy-proposal?blue=0.9&select=random"};

void check_same(const GreedyAnswer& there, const GreedyAnswer& here) {
  REQUIRE(there.matching.row_to_col == here.matching.row_to_col);
  REQUIRE(there.matching.col_to_row == here.matching.col_to_row);
  REQUIRE(there.matching.cardinality == here.matching.cardinality);
  REQUIRE(there.matching.objective == here.matching.objective);
  REQUIRE(there.stats.rounds == here.stats.rounds);
  REQUIRE(there.stats.matched == here.stats.matched);
}

void check_same(const matching::CoarseGraph& there, const matching::CoarseGraph& here) {
  REQUIRE(there.coarse_of == here.coarse_of);
  REQUIRE(there.vertex_weight == here.vertex_weight);
  REQUIRE(there.graph.rows == here.graph.rows);
  REQUIRE(there.graph.cols == here.graph.cols);
  REQUIRE(there.graph.row_offsets == here.graph.row_offsets);
  REQUIRE(there.graph.col_index == here.graph.col_index);
  REQUIRE(there.weights == here.weights);
}

void check_same(const matching::Coarsest& there, const matching::Coarsest& here) {
  REQUIRE(there.levels.size() == here.levels.size());
  for (std::size_t level = 0; level < here.levels.size(); ++level) {
    REQUIRE(there.levels[level].vertices == here.levels[level].vertices);
    REQUIRE(there.levels[level].entries == here.levels[level].entries);
  }
  check_same(there.graph, here.graph);
}

void check_all(Index vertices, std::uint64_t seed, Workspace& workspace, std::size_t& turn) {
  Execution cuda;
  cuda.backend = Backend::cuda;
  cuda.workspace = &workspace;
  for (const auto& instance : testing::weighted_graphs(vertices, seed)) {
    const auto kind = testing::kWeightKinds[turn++ % std::size(testing::kWeightKinds)];
    for (const bool own : {true, false}) {
      const auto graph = own ? instance.graph : testing::with_weights(instance.graph, kind, seed);
      const GreedyProblem problem = graph.view();
      for (const auto& setting : kSettings) {
        INFO(setting << " " << instance.name << " weights " << (own ? "own" : kind));
        const auto solver = matching::make_greedy_solver(setting);
        const GreedyAnswer here = solver->solve({1}, problem);
        check_same(solver->solve(cuda, problem), here);
        if (setting == "greedy-suitor") {
          const auto sorted = matching::make_greedy_solver("greedy-sorted")->solve({1}, problem);
          REQUIRE(here.matching.row_to_col == sorted.matching.row_to_col);
        }
      }
      const OnDevice there(problem, turn % 3 == 0);
      const auto& setting = kSettings[turn % kSettings.size()];
      INFO(setting << " " << instance.name << " weights " << (own ? "own" : kind) << ", in device memory");
      const auto solver = matching::make_greedy_solver(setting);
      const GreedyAnswer answer = solver->solve(cuda, there.view());
      check_same(answer, solver->solve({1}, problem));
      const auto certificate = matching::verify(problem, answer.matching);
      REQUIRE(certificate.matching_valid);
      REQUIRE(certificate.maximal);
    }
  }
}

}  // namespace

TEST_CASE("greedy matchings on a GPU are those of the CPU: small graphs") {
  MOTES_NEED_GPU();
  Workspace workspace;
  std::size_t turn = 0;
  for (const Index n : {0, 1, 2, 3, 5, 17, 40, 130, 300}) check_all(n, 1, workspace, turn);
}

TEST_CASE("greedy matchings on a GPU are those of the CPU: hubs, many warps") {
  MOTES_NEED_GPU();
  Workspace workspace;
  std::size_t turn = 3;
  check_all(12'000, 2, workspace, turn);
}

TEST_CASE("greedy matchings on a GPU do not depend on the suitors' launches") {
  MOTES_NEED_GPU();
  using matching::device::SuitorPlan;
  Workspace workspace;
  Execution cuda;
  cuda.backend = Backend::cuda;
  cuda.workspace = &workspace;
  std::size_t turn = 0;
  for (const Index n : {0, 1, 2, 3, 33, 300, 12'000})
    for (const auto& instance : testing::weighted_graphs(n, 6)) {
      const auto kind = testing::kWeightKinds[turn++ % std::size(testing::kWeightKinds)];
      const auto graph = turn % 2 == 0 ? instance.graph : testing::with_weights(instance.graph, kind, 6);
      const auto sorted = matching::make_greedy_solver("greedy-sorted")->solve({1}, graph.view());
      for (const auto plan : {SuitorPlan::wide_last, SuitorPlan::wide_first, SuitorPlan::pairs_first}) {
        INFO(instance.name << " " << n << " weights " << kind << " plan " << static_cast<int>(plan));
        GreedyAnswer answer;
        matching::device::greedy_suitor(cuda, graph.view(), answer, plan);
        REQUIRE(answer.matching.row_to_col == sorted.matching.row_to_col);
      }
    }
}

TEST_CASE("greedy matching on a GPU needs no workspace and does not change with what one held before") {
  MOTES_NEED_GPU();
  Execution cuda;
  cuda.backend = Backend::cuda;
  for (const auto& instance : testing::weighted_graphs(2'000, 3)) {
    INFO(instance.name);
    const auto solver = matching::make_greedy_solver("greedy-suitor");
    check_same(solver->solve(cuda, instance.graph.view()), solver->solve({1}, instance.graph.view()));
  }
}

TEST_CASE("coarser graphs made on a GPU are those of the CPU") {
  MOTES_NEED_GPU();
  Workspace workspace;
  Execution cuda;
  cuda.backend = Backend::cuda;
  cuda.workspace = &workspace;
  for (const Index n : {0, 1, 2, 3, 10, 40, 300, 6'000})
    for (const auto& instance : testing::weighted_graphs(n, 4)) {
      if (instance.graph.kind != GraphKind::general) continue;
      for (const auto kind : {"unit", "float", "double", "large int64"}) {
        INFO(instance.name << " weights " << kind);
        const auto graph = testing::with_weights(instance.graph, kind, 2);
        auto mate =
            matching::make_greedy_solver("greedy-suitor")->solve({1}, graph.view()).matching.row_to_col;
        for (std::size_t v = 0; v < mate.size(); v += 5)  // vertices that stay alone beside their neighbours
          if (mate[v] != -1) mate[static_cast<std::size_t>(std::exchange(mate[v], -1))] = -1;
        std::vector<double> vertex_weight(static_cast<std::size_t>(n));
        for (std::size_t v = 0; v < vertex_weight.size(); ++v)
          vertex_weight[v] = 0.1 * static_cast<double>(v);
        for (const bool weighted : {false, true}) {
          const std::span<const double> given = weighted ? vertex_weight : std::span<const double>{};
          check_same(coarsen(cuda, graph.view(), mate, given), coarsen({1}, graph.view(), mate, given));
        }
      }
    }
}

TEST_CASE("a hierarchy made on a GPU is that of the CPU") {
  MOTES_NEED_GPU();
  Workspace workspace;
  Execution cuda;
  cuda.backend = Backend::cuda;
  const auto solver = matching::make_greedy_solver("greedy-suitor");
  std::size_t turn = 0;
  for (const auto& instance : testing::weighted_graphs(1'000, 5)) {
    if (instance.graph.kind != GraphKind::general) continue;
    const auto kind = testing::kWeightKinds[turn++ % std::size(testing::kWeightKinds)];
    const auto graph = turn % 2 == 0 ? instance.graph : testing::with_weights(instance.graph, kind, 5);
    const OnDevice there(graph.view());
    for (const auto by : {matching::CoarsenBy::weight, matching::CoarsenBy::density}) {
      INFO(instance.name << " weights " << kind << " by " << static_cast<int>(by));
      cuda.workspace = turn % 2 == 0 ? &workspace : nullptr;
      cuda.threads = turn % 3 == 0 ? 1 : 2;
      const auto here = coarsen_to({1}, graph.view(), *solver, 50, 0.95, by);
      const auto made = coarsen_to(cuda, turn % 2 == 0 ? graph.view() : there.view(), *solver, 50, 0.95, by);
      REQUIRE(made.size() == here.size());
      for (std::size_t level = 0; level < here.size(); ++level) check_same(made[level], here[level]);
      const auto end = coarsest_of(cuda, graph.view(), *solver, {50, 0.95, by});
      check_same(end, coarsest_of({1}, graph.view(), *solver, {50, 0.95, by}));
    }
  }
}

TEST_CASE("a hierarchy made on a GPU refuses what one on the CPU does") {
  MOTES_NEED_GPU();
  Execution cuda;
  cuda.backend = Backend::cuda;
  const auto solver = matching::make_greedy_solver("greedy-suitor");
  const auto fault = [&](const Execution& execution, const GreedyProblem& problem) -> std::string {
    try {
      coarsen_to(execution, problem, *solver, 1);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  // Sums of weights that no double holds: merged once, refused at the next level.
  const double huge = 1.5e308;
  const auto square = testing::general_graph(
      6, {{0, 1, huge}, {1, 2, 1e308}, {2, 3, huge}, {0, 3, 1e308}, {3, 4, 1.0}, {4, 5, huge}});
  CHECK(fault(cuda, square.view()) == fault({1}, square.view()));
  CHECK(fault(cuda, square.view()).find("is infinite") != std::string::npos);
  const auto pairs = testing::bipartite_graph(2, 2, {{0, 0, 1.0}});
  CHECK(fault(cuda, pairs.view()) == fault({1}, pairs.view()));
}
