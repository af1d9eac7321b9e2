// The solvers that `auto` chooses.

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "tests/support/instances.h"

using namespace motes;

using namespace motes::matching;

namespace {

/// A view that says how large it is; the contents are not read.
SparseCostsView graph_of(Offset edges, Space space) {
  SparseCostsView view;
  view.graph = {1000, 1000, {}, {static_cast<const Index*>(nullptr), static_cast<std::size_t>(edges)}};
  view.space = space;
  return view;
}
DenseCostsView matrix_of(Index rows, Space space) {
  DenseCostsView view;
  view.rows = view.cols = rows;
  view.row_stride = rows;
  view.space = space;
  return view;
}

GeometricCostsView points_of(Index count) {
  GeometricCostsView view;
  const std::span none{static_cast<const double*>(nullptr), static_cast<std::size_t>(count)};
  view.row_points = view.col_points = {none, none, none};
  return view;
}

}  // namespace

TEST_CASE("auto picks solvers that take the problem where it is to be solved, and says why") {
  for (const auto space : {Space::host, Space::device})
    for (const CostsView& problem : {CostsView(graph_of(100, space)), CostsView(graph_of(1 << 26, space)),
                                     CostsView(matrix_of(10, space)), CostsView(matrix_of(20000, space)),
                                     CostsView(GeometricCostsView{})})
      for (const auto backend : {Backend::automatic, Backend::cpu, Backend::cuda})
        for (const Gpu gpu : {Gpu::none, Gpu::not_started, Gpu::started}) {
          const AutoChoice choice = choose_solver(problem, backend, gpu);
          REQUIRE(choice.info != nullptr);
          CHECK(!choice.reason.empty());
          CHECK(choice.backend != Backend::automatic);
          CHECK(choice.info->backends.contains(choice.backend));
          CHECK(choice.info->costs.contains(kind_of(problem)));
          if (backend == Backend::cuda || space_of(problem) == Space::device)
            CHECK(choice.backend == Backend::cuda);
          else if (backend == Backend::cpu || gpu == Gpu::none)
            CHECK(choice.backend == Backend::cpu);
        }
}

TEST_CASE("auto takes the GPU from one size on, a larger one where it must be started first") {
  const auto one_switch = [](const std::vector<bool>& choices) {
    return std::is_sorted(choices.begin(), choices.end()) && !choices.front() && choices.back();
  };
  const auto on_cpu = [](const std::vector<bool>& choices) {
    return std::count(choices.begin(), choices.end(), false);
  };
  std::vector<bool> choices[2][3];
  for (const Gpu gpu : {Gpu::not_started, Gpu::started}) {
    const auto takes_gpu = [&](const CostsView& problem) {
      return choose_solver(problem, Backend::automatic, gpu).backend == Backend::cuda;
    };
    auto& [graphs, matrices, points] = choices[gpu == Gpu::started ? 1 : 0];
    for (Offset edges = 1; edges <= Offset{1} << 30; edges *= 2)
      graphs.push_back(takes_gpu(graph_of(edges, Space::host)));
    for (Index rows = 1; rows <= 1 << 20; rows *= 2) {
      matrices.push_back(takes_gpu(matrix_of(rows, Space::host)));
      points.push_back(takes_gpu(points_of(rows)));
    }
    for (const auto* list : {&graphs, &matrices, &points}) CHECK(one_switch(*list));
  }
  CHECK(on_cpu(choices[0][0]) >= on_cpu(choices[1][0]));
  CHECK(on_cpu(choices[0][1]) > on_cpu(choices[1][1]));
  CHECK(on_cpu(choices[0][2]) > on_cpu(choices[1][2]));
}

TEST_CASE("auto starts a GPU for a graph of its own size, more on more CPU threads") {
  const auto least = [](auto&& takes_gpu) {
    Offset edges = 1;
    while (edges < Offset{1} << 40 && !takes_gpu(graph_of(edges, Space::host).graph)) edges *= 2;
    return edges;
  };
  const auto cardinality = [&](Gpu gpu,
                               int threads) {  // so few that the graph, which has no rows, is not read
    return least([&](const BipartiteGraphView& graph) {
      return choose_cardinality_solver(graph, Backend::automatic, gpu, threads).backend == Backend::cuda;
    });
  };
  CHECK(cardinality(Gpu::started, 2) == cardinality(Gpu::started, 1));
  CHECK(cardinality(Gpu::not_started, 2) == 2 * cardinality(Gpu::not_started, 1));
  CHECK(cardinality(Gpu::not_started, 2) > cardinality(Gpu::started, 2));
  CHECK(cardinality(Gpu::none, 2) == Offset{1} << 40);
}

TEST_CASE("auto's choice on the CPU solves what it is asked to, and proves it") {
  for (const auto& instance : testing::small_instances(5)) {
    INFO(instance.name);
    const AutoChoice choice = choose_solver(instance.costs.view());
    const Matching answer = choice.info->make()->solve({.threads = 1}, instance.costs.view());
    const auto best = testing::brute_force(instance.costs.view());
    REQUIRE((answer.status == Status::infeasible) == !best.has_value());
    if (best) CHECK(verify(instance.costs.view(), answer).optimal());
  }
}
