// GPU memory that runs out at any allocation: one error, and the same memory serves the next solve.

#include <catch2/catch.hpp>

#include <motes/base/workspace.h>
#include <motes/matching/cardinality_solver.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "tests/support/allocation_faults.h"
#include "tests/support/graphs.h"
#include "tests/support/instances.h"
#include "tests/support/skip.h"
#include "tests/support/weighted_graphs.h"

using namespace motes;

namespace {

Execution on_gpu(Workspace& workspace) {
  Execution execution;
  execution.threads = 2;
  execution.backend = Backend::cuda;
  execution.workspace = &workspace;
  return execution;
}

}  // namespace

TEST_CASE("assignment on the GPU survives memory that runs out at any allocation") {
  MOTES_NEED_GPU();
  const auto points = testing::points_costs(3, 300, 0.4);
  const auto forms = testing::dense_forms(testing::from_matrix({{4, 1, 3}, {2, 0, 5}, {3, 2, 2}}));
  const auto geometric = testing::geometric_instances(1);
  std::int64_t allocations = 0;
  for (const auto& info : matching::solvers()) {
    if (info.family() != matching::Family::assignment || !info.backends.contains(Backend::cuda)) continue;
    const auto check = [&](const matching::CostsView& problem) {
      if (!info.costs.contains(matching::kind_of(problem))) return;
      const auto reference = matching::find_solver("jv")->make()->solve({1}, problem);
      if (reference.status == matching::Status::infeasible) return;
      // Memory kept from solve to solve, and memory that is not.
      Workspace kept;
      allocations += testing::fail_each_allocation([&] {
        const auto answer = info.make()->solve(on_gpu(kept), problem);
        CHECK(answer.objective == reference.objective);
        const auto certificate = matching::verify(on_gpu(kept), problem, answer);
        CHECK(certificate.optimal());
      });
      allocations += testing::fail_each_allocation([&] {
        Workspace own;
        const auto answer = info.make()->solve(on_gpu(own), problem);
        CHECK(answer.objective == reference.objective);
      });
    };
    INFO(info.name);
    check(points.view());
    for (const auto& form : forms) check(form.view);
    for (const auto& instance : geometric) check(instance.costs.view());
  }
  CHECK(allocations > 20);
}

TEST_CASE("cardinality on the GPU survives memory that runs out at any allocation") {
  MOTES_NEED_GPU();
  const auto graph = testing::random_graph(3, 3000, 2800, 3);
  const matching::CardinalityProblem problem{graph.view(), {}, {}};
  const auto best = matching::make_cardinality_solver("hk")->solve({1}, problem).matching.cardinality;
  std::int64_t allocations = 0;
  for (const auto& info : matching::solvers()) {
    if (info.family() != matching::Family::cardinality || !info.backends.contains(Backend::cuda)) continue;
    INFO(info.name);
    Workspace kept;
    allocations += testing::fail_each_allocation([&] {
      const auto answer = info.make_cardinality()->solve(on_gpu(kept), problem);
      CHECK(answer.matching.cardinality == best);
    });
    allocations += testing::fail_each_allocation([&] {
      Workspace own;
      const auto answer = info.make_cardinality()->solve(on_gpu(own), problem);
      CHECK(answer.matching.cardinality == best);
    });
  }
  CHECK(allocations > 10);
}

TEST_CASE("greedy matching on the GPU survives memory that runs out at any allocation") {
  MOTES_NEED_GPU();
  const auto instances = testing::weighted_graphs(200, 2);
  std::int64_t allocations = 0;
  for (const auto& info : matching::solvers()) {
    if (info.family() != matching::Family::greedy || !info.backends.contains(Backend::cuda)) continue;
    for (const auto& instance : instances) {
      INFO(info.name << " " << instance.name);
      const auto problem = instance.graph.view();
      const auto reference = info.make_greedy()->solve({1}, problem).matching.row_to_col;
      Workspace kept;
      allocations += testing::fail_each_allocation([&] {
        const auto answer = info.make_greedy()->solve(on_gpu(kept), problem);
        CHECK(answer.matching.row_to_col == reference);
      });
    }
  }
  CHECK(allocations > 10);
}
