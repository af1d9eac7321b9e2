// Which optimum is told, and why there is none.

#include <catch2/catch.hpp>

#include "matching/feasibility.h"
#include "matching/registry.h"
#include "matching/ties.h"
#include "matching/verify.h"
#include "tests/support/instances.h"

using namespace motes;
using matching::Cost;
using matching::Index;
using matching::Status;

TEST_CASE("ties are resolved the same way whichever optimum and duals come in") {
  const auto solver = matching::find_solver("jv")->make();
  int moved = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const auto& instance : testing::small_instances(seed)) {
      INFO(instance.name);
      const auto problem = instance.costs.view();
      const auto answer = solver->solve({1}, problem);
      if (answer.status != Status::optimal) continue;
      const auto least = matching::resolve_ties({1}, problem, answer);
      REQUIRE(matching::verify(problem, least).optimal());
      CHECK(least.objective == answer.objective);
      moved += least.row_to_col != answer.row_to_col;
      // Another optimum with other duals: that of the transposed problem, turned back.
      auto other = solver->solve({1}, matching::transpose(problem).view());
      std::swap(other.row_to_col, other.col_to_row);
      std::swap(other.duals.u, other.duals.v);
      CHECK(matching::resolve_ties({1}, problem, other).row_to_col == least.row_to_col);
    }
  }
  CHECK(moved > 0);  // else nothing was tested
}

TEST_CASE("ties are not resolved for what is no optimum") {
  const auto costs = testing::from_matrix({{1, 2}, {2, 1}});
  const auto solver = matching::find_solver("jv")->make();
  auto answer = solver->solve({1}, costs.view());
  auto heuristic = answer;
  heuristic.status = Status::heuristic;
  CHECK_THROWS(matching::resolve_ties({1}, costs.view(), heuristic));
  answer.duals.u = {0, 0};
  answer.duals.v = {0, 0};
  CHECK_THROWS(matching::resolve_ties({1}, costs.view(), answer));
}

TEST_CASE("a problem is infeasible exactly where Hall's condition fails, and the violator shows it") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const auto& instance : testing::small_instances(seed)) {
      INFO(instance.name);
      const auto problem = instance.costs.view();
      const auto violator = matching::find_hall_violator(problem);
      CHECK(violator.has_value() == !testing::brute_force(problem).has_value());
      if (!violator) continue;
      const auto side = violator->of_rows ? instance.costs : matching::transpose(problem);
      std::vector<bool> neighbour(side.graph.cols, false);
      for (const Index i : violator->vertices) {
        CHECK(side.view().row_cost(i) == matching::kInfiniteCost);
        for (auto e = side.graph.row_offsets[i]; e < side.graph.row_offsets[i + 1]; ++e)
          neighbour[side.graph.col_index[e]] = true;
      }
      CHECK(std::count(neighbour.begin(), neighbour.end(), true) == violator->neighbours);
      CHECK(violator->neighbours < static_cast<std::int64_t>(violator->vertices.size()));
    }
  }
}
