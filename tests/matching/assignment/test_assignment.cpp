// Every assignment solver of the registry against brute force and against its own certificate.

#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/device_costs.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "matching/assignment/sparse/components.h"
#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::Cost;
using matching::Index;
using matching::kInfiniteCost;
using matching::Status;

namespace {

/// A solver in one of its settings: back end, and where the costs lie.
struct Setting {
  const matching::SolverInfo* info;
  Execution execution;
  matching::Space space;
  std::string name() const {
    return std::string(info->name) + (execution.backend == Backend::cuda ? " cuda" : " cpu") +
           (space == matching::Space::device ? " device" : "");
  }
};

std::vector<Setting> settings(Backend backend) {
  const bool cuda = backend == Backend::cuda;
  std::vector<Setting> out;
  for (const auto& info : matching::solvers()) {
    if (info.family() != matching::Family::assignment ||
        !info.backends.contains(cuda ? Backend::cuda : Backend::cpu))
      continue;
    Execution execution;
    execution.threads = 1;
    execution.backend = backend;
    out.push_back({&info, execution, matching::Space::host});
    if (cuda) out.push_back({&info, execution, matching::Space::device});
  }
  return out;
}

matching::Matching solve(const Setting& setting, const matching::CostsView& problem) {
  const auto solver = setting.info->make();
  if (setting.space == matching::Space::host) return solver->solve(setting.execution, problem);
  const matching::DeviceCosts copy(problem);
  return solver->solve(setting.execution, copy.view());
}

void check_optimal(const matching::CostsView& problem, const matching::Matching& answer) {
  REQUIRE(answer.status == Status::optimal);
  const auto certificate = matching::verify(problem, answer);
  CHECK(certificate.fault == "");
  REQUIRE(certificate.optimal());
  CHECK(certificate.gap == 0);
  CHECK(answer.gap == 0);
  CHECK(answer.objective == certificate.primal);
  CHECK(answer.dual_objective == certificate.dual);
}

void check_answer(const Setting& setting, const matching::CostsView& problem, std::optional<Cost> best) {
  const auto answer = solve(setting, problem);
  if (!best) {
    REQUIRE(answer.status == Status::infeasible);
    return;
  }
  check_optimal(problem, answer);
  REQUIRE(answer.objective == static_cast<double>(*best));
}

/// Every kind of costs that the registry lists for the solver, against brute force.
void check_small(const std::vector<Setting>& all, std::uint64_t seed) {
  const auto check = [&](const std::string& name, const matching::CostsView& problem,
                         std::optional<Cost> best) {
    for (const Setting& setting : all) {
      if (!setting.info->costs.contains(matching::kind_of(problem))) continue;
      INFO(setting.name() << ": " << name);
      check_answer(setting, problem, best);
    }
  };
  for (const auto& instance : testing::small_instances(seed)) {
    const auto best = testing::brute_force(instance.costs.view());
    check("sparse " + instance.name, instance.costs.view(), best);
    const auto forms = testing::dense_forms(instance.costs);
    if (forms.empty()) continue;
    // The number types alternate: all of them on every instance would take too long.
    const auto& form = forms[seed % forms.size()];
    check(form.name + " " + instance.name, form.view, best);
  }
  for (const auto& instance : testing::geometric_instances(seed)) {
    const auto best = testing::brute_force(matching::to_sparse(instance.costs.view()).view());
    check(instance.name, instance.costs.view(), best);
  }
}

}  // namespace

TEST_CASE("every solver agrees with brute force and proves it, for every kind of costs") {
  const auto all = settings(Backend::cpu);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) check_small(all, seed);
}

TEST_CASE("every solver agrees with brute force on the GPU, for every kind of costs") {
  MOTES_NEED_GPU();
  Workspace workspace;
  auto all = settings(Backend::cuda);
  for (Setting& setting : all) setting.execution.workspace = &workspace;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) check_small(all, seed);
}

namespace {

void check_starts(const std::vector<Setting>& all, std::uint64_t seeds) {
  std::mt19937_64 rng(5);
  for (const Setting& setting : all) {
    const auto solver = setting.info->make();
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      for (const auto& instance : testing::small_instances(seed)) {
        const auto problem = instance.costs.view();
        const auto best = testing::brute_force(problem);
        const Index rows = problem.graph.rows, cols = problem.graph.cols;
        std::vector<Index> pairs(rows, -1), order(cols);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), rng);
        for (Index i = 0; i < std::min(rows, cols); ++i)
          if (rng() % 2 == 0) pairs[i] = order[i];  // most of them no edges
        std::vector<Cost> u(rows), v(cols);
        for (Cost& x : u) x = static_cast<Cost>(rng() % 100) - 50;
        for (Cost& x : v) x = static_cast<Cost>(rng() % 100) - 50;
        for (const matching::Start& start :
             {matching::Start{pairs, {}, {}}, matching::Start{{}, u, v}, matching::Start{pairs, u, v}}) {
          INFO(setting.name() << ": " << instance.name);
          const auto answer = solver->solve(setting.execution, problem, start);
          if (!best) {
            CHECK(answer.status == Status::infeasible);
            continue;
          }
          check_optimal(problem, answer);
          CHECK(answer.objective == static_cast<double>(*best));
          // From its own answer it has nothing to do.
          const auto again =
              solver->solve(setting.execution, problem, {answer.row_to_col, answer.duals.u, answer.duals.v});
          check_optimal(problem, again);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("every solver starts from any matching and duals") { check_starts(settings(Backend::cpu), 10); }

TEST_CASE("every solver starts from any matching and duals on the GPU") {
  MOTES_NEED_GPU();
  Workspace workspace;
  auto all = settings(Backend::cuda);
  std::erase_if(all, [](const Setting& s) { return s.space == matching::Space::device; });
  for (Setting& setting : all) setting.execution.workspace = &workspace;
  check_starts(all, 2);
}

TEST_CASE("every solver certifies large instances, the same for any number of threads") {
  for (const Setting& setting : settings(Backend::cpu)) {
    const auto solver = setting.info->make();
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      for (const auto& instance : testing::large_instances(seed)) {
        INFO(setting.name() << ": " << instance.name);
        const auto problem = instance.costs.view();
        const auto one = solver->solve({1}, problem);
        if (one.status != Status::infeasible) check_optimal(problem, one);
        for (const int threads : {2, 3, 8}) {
          const auto many = solver->solve({threads}, problem);
          CHECK(many.status == one.status);
          if (one.status == Status::infeasible) continue;
          CHECK(many.row_to_col == one.row_to_col);
          CHECK(many.duals.u == one.duals.u);
          CHECK(many.duals.v == one.duals.v);
        }
      }
    }
  }
}

TEST_CASE("every solver certifies large instances on the GPU") {
  MOTES_NEED_GPU();
  Workspace workspace;
  for (Setting setting : settings(Backend::cuda)) {
    setting.execution.workspace = &workspace;
    for (const auto& instance : testing::large_instances(1)) {
      INFO(setting.name() << ": " << instance.name);
      const auto answer = solve(setting, instance.costs.view());
      const auto reference = matching::find_solver("jv")->make()->solve({1}, instance.costs.view());
      CHECK(answer.status == reference.status);
      if (reference.status == Status::infeasible) continue;
      check_optimal(instance.costs.view(), answer);
      CHECK(answer.objective == reference.objective);
      CHECK(matching::verify(setting.execution, instance.costs.view(), answer).optimal());
    }
  }
}

TEST_CASE("an infeasible perfect assignment is reported, never a partial answer called optimal") {
  // Two rows that both know only column 0.
  matching::SparseCosts p;
  p.graph = {2, 2, {0, 1, 2}, {0, 0}};
  p.cost = {1, 1};
  for (const Setting& setting : settings(Backend::cpu)) {
    const auto answer = solve(setting, p.view());
    CHECK(answer.status == Status::infeasible);
    CHECK(answer.duals.u.empty());
  }
}

TEST_CASE("malformed problems are refused with the fault's place") {
  const auto solver = matching::find_solver("jv")->make();
  auto refused = [&](const matching::SparseCosts& p, const std::string& part) {
    CHECK_THROWS_WITH(solver->solve({1}, p.view()), Catch::Contains(part));
  };
  matching::SparseCosts good = testing::from_matrix({{1, 2}, {3, 4}});
  CHECK_NOTHROW(solver->solve({1}, good.view()));
  auto p = good;
  p.graph.col_index = {0, 5, 0, 1};
  refused(p, "column 5 of row 0");
  p = good;
  p.graph.col_index = {1, 1, 0, 1};
  refused(p, "row 0");
  p = good;
  p.graph.col_index = {1, 0, 0, 1};
  refused(p, "unsorted");
  p = good;
  p.graph.row_offsets = {0, 3};
  refused(p, "row_offsets");
  p = good;
  p.graph.row_offsets = {0, 5, 4};
  refused(p, "row_offsets falls");
  p = good;
  p.cost.pop_back();
  refused(p, "cost has 3");
  p = good;
  p.cost[2] = kInfiniteCost;
  refused(p, "edge 2");
  p = good;
  p.unmatched_row_cost = {1};
  refused(p, "unmatched_row_cost");
  p = good;
  p.cost = {Cost{1} << 57, 1, 1, 1};
  refused(p, "2^60");
  p.unmatched_row_cost = p.unmatched_col_cost = {Cost{1} << 57, Cost{1} << 57};
  CHECK(solver->solve({1}, p.view()).status == Status::optimal);
}

TEST_CASE("extreme but legal costs neither overflow nor lose a step") {
  const Cost big = matching::kMaxCost;
  for (const Setting& setting : settings(Backend::cpu)) {
    for (const Cost sign : {Cost{1}, Cost{-1}}) {
      auto p = testing::from_matrix(
          {{sign * big, sign * big - sign, 0}, {sign * (big - 2), 1, -big}, {big, big, big}});
      p.unmatched_row_cost = {big, big, -big};
      p.unmatched_col_cost = {big, -big, big};
      const auto answer = solve(setting, p.view());
      CHECK(matching::verify(p.view(), answer).optimal());
    }
  }
}

TEST_CASE("transposing twice gives the problem back") {
  for (const auto& instance : testing::small_instances(3)) {
    const auto twice = matching::transpose(matching::transpose(instance.costs.view()).view());
    CHECK(twice.graph.row_offsets == instance.costs.graph.row_offsets);
    CHECK(twice.graph.col_index == instance.costs.graph.col_index);
    CHECK(twice.cost == instance.costs.cost);
  }
}

TEST_CASE("components partition the rows, and no column joins two of them") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const auto& instance : testing::large_instances(seed)) {
      INFO(instance.name);
      const auto graph = instance.costs.graph.view();
      const auto components = matching::connected_components(graph);
      std::vector<int> seen(graph.rows, 0), owner(graph.cols, -1);
      Index last_first = -1;
      for (std::int64_t c = 0; c < components.count(); ++c) {
        const Index first = components.rows[components.offsets[c]];
        CHECK(first > last_first);
        last_first = first;
        for (auto r = components.offsets[c]; r < components.offsets[c + 1]; ++r) {
          const Index i = components.rows[r];
          ++seen[i];
          for (auto e = graph.row_offsets[i]; e < graph.row_offsets[i + 1]; ++e) {
            int& mine = owner[graph.col_index[e]];
            if (mine != -1 && mine != c) FAIL("column in two components");
            mine = static_cast<int>(c);
          }
        }
      }
      CHECK(std::count(seen.begin(), seen.end(), 1) == graph.rows);
    }
  }
}
