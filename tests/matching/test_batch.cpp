// Many problems in one call: the same answers as one by one.

#include <catch2/catch.hpp>

#include <atomic>
#include <list>
#include <random>

#include "matching/batch.h"
#include "matching/device/device_costs.h"
#include "matching/registry.h"
#include "matching/ties.h"
#include "matching/verify.h"
#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::CostsView;
using matching::Index;
using matching::Status;

namespace {

/// Problems of all kinds, and what their views look at.
struct Batch {
  std::list<matching::SparseCosts> sparse;
  std::list<testing::DenseForm> dense;
  std::list<testing::GeometricInstance> geometric;
  std::vector<CostsView> views;

  explicit Batch(std::uint64_t seed) {
    for (const auto& instance : testing::small_instances(seed)) {
      sparse.push_back(instance.costs);
      views.emplace_back(sparse.back().view());
      if (views.size() % 5 != 0) continue;
      for (const auto& form : testing::dense_forms(instance.costs)) {
        dense.push_back(form);
        views.emplace_back(dense.back().view);
      }
    }
    for (const auto& instance : testing::geometric_instances(seed)) {
      geometric.push_back(instance);
      views.emplace_back(geometric.back().costs.view());
    }
  }
};

matching::Execution on(matching::Backend backend, int threads) {
  matching::Execution execution;
  execution.threads = threads;
  execution.backend = backend;
  return execution;
}

bool lists(std::string_view all, std::string_view one) { return all.find(one) != std::string_view::npos; }

/// Solves on the CPU whatever back end is asked for, so that stacks can be tested where there is no GPU.
class AnywhereOnCpu final : public matching::AssignmentSolver {
  matching::Matching run(const matching::Execution&, const CostsView& problem,
                         const matching::Start& start) const override {
    ++calls;
    return matching::find_solver("jv")->make()->solve({1}, problem, start);
  }

 public:
  mutable std::atomic<int> calls = 0;
};

/// As good as the answer alone, and proven.
void check_equally_good(const CostsView& problem, const matching::Matching& answer,
                        const matching::Matching& alone) {
  REQUIRE(answer.status == alone.status);
  if (alone.status != Status::optimal) return;
  CHECK(answer.objective == alone.objective);
  CHECK(answer.dual_objective == alone.objective);
  CHECK(answer.gap == 0);
  CHECK(answer.cardinality ==
        static_cast<std::int64_t>(std::count_if(answer.row_to_col.begin(), answer.row_to_col.end(),
                                                [](Index j) { return j != -1; })));
  const auto certificate = matching::verify(problem, answer);
  CHECK(certificate.fault == "");
  CHECK(certificate.optimal());
  CHECK(matching::resolve_ties({1}, problem, answer).row_to_col ==
        matching::resolve_ties({1}, problem, alone).row_to_col);
}

}  // namespace

TEST_CASE("a batch on the CPU is the same bits as one by one") {
  const auto seed = GENERATE(1U, 2U, 3U);
  const Batch batch(seed);
  INFO("seed " << seed);
  for (const auto& info : matching::solvers()) {
    if (info.family != matching::Family::assignment || !lists(info.backends, "cpu")) continue;
    const auto solver = info.make();
    for (const int threads : {1, 3}) {
      const auto answers = matching::solve_batch(on(matching::Backend::cpu, threads), batch.views, *solver);
      REQUIRE(answers.size() == batch.views.size());
      for (std::size_t k = 0; k < answers.size(); ++k) {
        INFO(info.name << " problem " << k);
        const auto alone = solver->solve({1}, batch.views[k]);
        CHECK(answers[k].status == alone.status);
        CHECK(answers[k].row_to_col == alone.row_to_col);
        CHECK(answers[k].duals.v == alone.duals.v);
        CHECK((answers[k].objective == alone.objective));
      }
    }
  }
  CHECK(matching::solve_batch({1}, {}, *matching::find_solver("jv")->make()).empty());
}

TEST_CASE("a batch names the problem at fault, and takes starts") {
  const auto jv = matching::find_solver("jv")->make();
  std::vector<matching::SparseCosts> costs(5, testing::from_matrix({{4, 1}, {2, 3}}));
  std::vector<CostsView> views;
  for (const auto& c : costs) views.emplace_back(c.view());
  std::vector<matching::Index> swapped{1, 0};
  std::vector<matching::Start> starts(5);
  starts[2].row_to_col = swapped;
  for (const auto& answer : matching::solve_batch({2}, views, *jv, starts))
    CHECK(answer.row_to_col == swapped);
  CHECK_THROWS_WITH(matching::solve_batch({2}, views, *jv, std::span(starts).first(4)),
                    Catch::Contains("4 starts for 5 problems"));
  costs[3].graph.col_index[1] = 7;
  costs[4].graph.col_index[1] = -1;
  CHECK_THROWS_WITH(matching::solve_batch({2}, views, *jv, starts), Catch::StartsWith("problem 3: "));
  CHECK_THROWS_AS(matching::solve_batch({2}, views, *jv), std::invalid_argument);
}

TEST_CASE("stacked problems are as good as one by one, and proven") {
  const auto seed = GENERATE(1U, 2U, 3U);
  const Batch batch(seed);
  INFO("seed " << seed);
  const auto jv = matching::find_solver("jv")->make();
  std::vector<CostsView> feasible;
  for (const bool with_infeasible : {true, false}) {
    const AnywhereOnCpu solver;
    const auto& views = with_infeasible ? batch.views : feasible;
    const auto answers = matching::solve_batch(on(matching::Backend::cuda, 2), views, solver);
    for (std::size_t k = 0; k < answers.size(); ++k) {
      INFO("problem " << k);
      check_equally_good(views[k], answers[k], jv->solve({1}, views[k]));
      if (with_infeasible && answers[k].status == Status::optimal && views[k].index() == 0)
        feasible.push_back(views[k]);
    }
    if (!with_infeasible) CHECK(solver.calls < 20);  // stacks, not problems
  }
}

TEST_CASE("a batch on the GPU is as good as one by one, and proven") {
  MOTES_NEED_GPU();
  const auto seed = GENERATE(1U, 2U);
  const Batch batch(seed);
  INFO("seed " << seed);
  const auto jv = matching::find_solver("jv")->make();
  for (const auto& info : matching::solvers()) {
    if (info.family != matching::Family::assignment || !lists(info.backends, "cuda")) continue;
    const auto solver = info.make();
    std::vector<CostsView> views;
    std::list<matching::DeviceCosts> copies;
    for (std::size_t k = 0; k < batch.views.size(); ++k) {
      if (k % 3 == 0) copies.emplace_back(batch.views[k]);
      views.push_back(k % 3 == 0 ? copies.back().view() : batch.views[k]);
    }
    const auto answers = matching::solve_batch(on(matching::Backend::cuda, 4), views, *solver);
    for (std::size_t k = 0; k < answers.size(); ++k) {
      INFO(info.name << " problem " << k);
      check_equally_good(batch.views[k], answers[k], jv->solve({1}, batch.views[k]));
    }
  }
}

TEST_CASE("a stack on the GPU lets no block reach into another, and one infeasible block spoils no other") {
  MOTES_NEED_GPU();
  const auto solver = matching::find_solver("hungarian-tree")->make();
  const auto gpu = on(matching::Backend::cuda, 2);
  std::vector<matching::SparseCosts> costs(4, testing::from_matrix({{4, 1}, {2, 3}}));
  costs[1].graph = {2, 2, {0, 1, 2}, {0, 0}};  // both rows want column 0
  costs[1].cost = {1, 1};
  const auto views = [&] {
    std::vector<CostsView> out;
    for (const auto& c : costs) out.emplace_back(c.view());
    return out;
  };
  for (const bool on_device : {false, true}) {
    std::list<matching::DeviceCosts> copies;
    std::vector<CostsView> problems = views();
    if (on_device)
      for (auto& problem : problems) problem = copies.emplace_back(problem).view();
    const auto answers = matching::solve_batch(gpu, problems, *solver);
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(answers[k].status == (k == 1 ? Status::infeasible : Status::optimal));
      if (k != 1) CHECK(answers[k].objective == 3);
    }
  }
  costs[1] = costs[0];
  costs[2].graph.col_index[1] = 2;  // the next block's first column, in a stack
  CHECK_THROWS_WITH(matching::solve_batch(gpu, views(), *solver), Catch::StartsWith("problem 2: "));
  std::list<matching::DeviceCosts> copies;
  std::vector<CostsView> problems = views();
  for (auto& problem : problems) problem = copies.emplace_back(problem).view();
  CHECK_THROWS_WITH(matching::solve_batch(gpu, problems, *solver), Catch::StartsWith("problem 2: "));
}
