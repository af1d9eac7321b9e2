// Every assignment solver of the registry against brute force and against its own certificate.

#include <catch2/catch.hpp>

#include "matching/components.h"
#include "matching/registry.h"
#include "matching/verify.h"
#include "tests/support/instances.h"

using namespace motes;
using matching::Cost;
using matching::Index;
using matching::kInfiniteCost;
using matching::Status;

namespace {

std::vector<const matching::SolverInfo*> assignment_solvers() {
  std::vector<const matching::SolverInfo*> out;
  for (const auto& info : matching::solvers())
    if (info.family == matching::Family::assignment) out.push_back(&info);
  return out;
}

void check_optimal(const matching::SparseCostsView& problem, const matching::Matching& answer) {
  REQUIRE(answer.status == Status::optimal);
  const auto certificate = matching::verify(problem, answer);
  CHECK(certificate.fault == "");
  REQUIRE(certificate.optimal());
  CHECK(certificate.gap == 0);
  CHECK(answer.gap == 0);
  CHECK(answer.objective == certificate.primal);
  CHECK(answer.dual_objective == certificate.dual);
}

}  // namespace

TEST_CASE("every solver agrees with brute force and proves it") {
  for (const auto* info : assignment_solvers()) {
    const auto solver = info->make();
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      for (const auto& instance : testing::small_instances(seed)) {
        INFO(info->name << ": " << instance.name);
        const auto problem = instance.costs.view();
        const auto answer = solver->solve({1}, problem);
        const auto best = testing::brute_force(problem);
        if (!best) {
          REQUIRE(answer.status == Status::infeasible);
          continue;
        }
        check_optimal(problem, answer);
        REQUIRE(answer.objective == static_cast<double>(*best));
      }
    }
  }
}

TEST_CASE("every solver certifies large instances, the same for any number of threads") {
  for (const auto* info : assignment_solvers()) {
    const auto solver = info->make();
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      for (const auto& instance : testing::large_instances(seed)) {
        INFO(info->name << ": " << instance.name);
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

TEST_CASE("an infeasible perfect assignment is told, never a partial answer called optimal") {
  // Two rows that both know only column 0.
  matching::SparseCosts p;
  p.graph = {2, 2, {0, 1, 2}, {0, 0}};
  p.cost = {1, 1};
  for (const auto* info : assignment_solvers()) {
    const auto answer = info->make()->solve({1}, p.view());
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
  for (const auto* info : assignment_solvers()) {
    for (const Cost sign : {Cost{1}, Cost{-1}}) {
      auto p = testing::from_matrix(
          {{sign * big, sign * big - sign, 0}, {sign * (big - 2), 1, -big}, {big, big, big}});
      p.unmatched_row_cost = {big, big, -big};
      p.unmatched_col_cost = {big, -big, big};
      const auto answer = info->make()->solve({1}, p.view());
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
