// The choice between tied optima, and the reasons why there is none.

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/matching/device_costs.h>
#include <motes/matching/feasibility.h>
#include <motes/matching/registry.h>
#include <motes/matching/ties.h>
#include <motes/matching/verify.h>

#include "tests/support/instances.h"
#include "tests/support/skip.h"

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

TEST_CASE("A permuted problem has the same choice by the names of its rows and columns") {
  std::mt19937_64 rng(5);
  const auto solver = matching::find_solver("jv")->make();
  const Index n = 40;
  std::vector<Index> rows(n), cols(n);
  std::iota(rows.begin(), rows.end(), 0), std::iota(cols.begin(), cols.end(), 0);
  std::vector<std::int32_t> costs, permuted;
  for (Index k = 0; k < n * n; ++k) costs.push_back(static_cast<std::int32_t>(rng() % 3));
  const matching::DenseCostsView problem{n, n, n, costs.data(), 0, {}, {}};
  const auto expected = matching::resolve_ties({1}, problem, solver->solve({1}, problem));
  int other = 0;
  for (int round = 0; round < 5; ++round) {
    std::shuffle(rows.begin(), rows.end(), rng), std::shuffle(cols.begin(), cols.end(), rng);
    permuted.clear();
    for (const Index i : rows)
      for (const Index j : cols) permuted.push_back(costs[static_cast<std::size_t>(i * n + j)]);
    const matching::DenseCostsView turned{n, n, n, permuted.data(), 0, {}, {}};
    const auto answer = solver->solve({1}, turned);
    const auto restored = [&](const matching::Matching& found) {
      std::vector<Index> out(n);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[static_cast<std::size_t>(rows[i])] = cols[static_cast<std::size_t>(found.row_to_col[i])];
      return out;
    };
    CHECK(restored(matching::resolve_ties({1}, turned, answer, {rows, cols})) == expected.row_to_col);
    other += restored(matching::resolve_ties({1}, turned, answer)) != expected.row_to_col;
  }
  CHECK(other > 0);  // else no names are needed
}

namespace {

/// Row i could have column i or i + 1 at the same cost, and staying free costs far more. With a column to
/// spare any may be free, which decides for all others; `closed`, the last row could have the first column,
/// and all move or none; else there is nothing to choose, as is seen from the ends of the chain on.
matching::SparseCosts chain(Index rows, Index cols, bool closed) {
  matching::SparseCosts p;
  p.graph.rows = rows, p.graph.cols = cols;
  for (Index i = 0; i < rows; ++i) {
    std::vector<Index> row{i};
    if (i + 1 < cols) row.push_back(i + 1);
    if (i + 1 == cols && closed) row.insert(row.begin(), 0);
    for (const Index j : row) p.graph.col_index.push_back(j), p.cost.push_back(7);
    p.graph.row_offsets.push_back(p.graph.edges());
  }
  p.unmatched_row_cost.assign(static_cast<std::size_t>(rows), 100);
  p.unmatched_col_cost.assign(static_cast<std::size_t>(cols), cols > rows ? 0 : 100);
  return p;
}

/// Small costs, so that most are tied.
matching::SparseCosts tied(std::uint64_t seed, Index side, int degree, Cost highest) {
  std::mt19937_64 rng(seed);
  matching::SparseCosts p;
  p.graph.rows = p.graph.cols = side;
  for (Index i = 0; i < side; ++i) {
    std::vector<Index> cols;
    for (int d = 0; d < degree; ++d) cols.push_back(static_cast<Index>(rng() % static_cast<unsigned>(side)));
    std::sort(cols.begin(), cols.end());
    cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
    for (const Index j : cols) {
      p.graph.col_index.push_back(j);
      p.cost.push_back(static_cast<Cost>(rng() % static_cast<unsigned>(highest + 1)));
    }
    p.graph.row_offsets.push_back(p.graph.edges());
  }
  p.unmatched_row_cost.assign(static_cast<std::size_t>(side), highest);
  p.unmatched_col_cost.assign(static_cast<std::size_t>(side), highest);
  return p;
}

/// Resolves the ties of an optimum on the GPU as on the CPU, and sees duals that prove nothing. Whether the
/// optimum was another one before.
bool same_ties_on_gpu(Workspace& workspace, const matching::SparseCosts& costs) {
  Execution execution{1};
  execution.workspace = &workspace;
  const auto problem = costs.view();
  auto answer = matching::find_solver("jv")->make()->solve({1}, problem);
  if (answer.status != Status::optimal) return false;
  const matching::DeviceCosts copy{matching::CostsView(problem)};
  const auto expected = matching::resolve_ties({1}, problem, answer);
  const auto found = matching::resolve_ties(execution, copy.view(), answer);
  CHECK(found.row_to_col == expected.row_to_col);
  CHECK(found.col_to_row == expected.col_to_row);
  CHECK(found.cardinality == expected.cardinality);
  execution.backend = Backend::cuda;
  const auto partners = matching::find_solver("jv")->make()->solve_for_partners(execution, copy.view());
  CHECK(partners.status == Status::optimal);
  CHECK(partners.row_to_col == expected.row_to_col);
  CHECK(partners.cardinality == expected.cardinality);
  CHECK(partners.objective == expected.objective);
  CHECK(partners.gap == 0);
  CHECK(partners.col_to_row.empty());
  CHECK(partners.duals.u.empty());
  if (answer.cardinality == 0) return false;
  ++answer.duals.u[0];
  CHECK_THROWS(matching::resolve_ties(execution, copy.view(), answer));
  return found.row_to_col != answer.row_to_col;
}

}  // namespace

TEST_CASE("ties are resolved on the GPU as on the CPU") {
  MOTES_NEED_GPU();
  Workspace workspace;
  int moved = 0;
  const auto check = [&](const matching::SparseCosts& costs) { moved += same_ties_on_gpu(workspace, costs); };
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const auto& instance : testing::small_instances(seed)) {
      INFO(instance.name << ", seed " << seed);
      check(instance.costs);
    }
  check(chain(5000, 5001, false));
  check(chain(5000, 5000, true));
  check(chain(5000, 5000, false));
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    INFO("seed " << seed);
    check(tied(seed, 3000, 3, 5));
    check(tied(seed, 600, 12, 1));
  }
  CHECK(moved > 0);  // else nothing was tested
}

TEST_CASE("for the memory and race checkers: ties") {
  MOTES_NEED_GPU();
  Workspace workspace;
  int moved = 0;
  for (const auto& costs :
       {chain(70, 71, false), chain(70, 70, true), tied(1, 300, 3, 5), tied(2, 80, 12, 1)})
    moved += same_ties_on_gpu(workspace, costs);
  CHECK(moved > 0);
}

TEST_CASE("partners alone are those of the optimum that ties are resolved to") {
  for (const char* name : {"jv", "hungarian", "auction-scaled"}) {
    const auto solver = matching::find_solver(name)->make();
    for (std::uint64_t seed = 1; seed <= 6; ++seed)
      for (const auto& instance : testing::small_instances(seed)) {
        INFO(name << ", " << instance.name << ", seed " << seed);
        const auto problem = instance.costs.view();
        const auto found = solver->solve_for_partners({1}, problem);
        const auto answer = solver->solve({1}, problem);
        REQUIRE(found.status == answer.status);
        if (answer.status != Status::optimal) continue;
        const auto expected = matching::resolve_ties({1}, problem, answer);
        CHECK(found.row_to_col == expected.row_to_col);
        CHECK(found.cardinality == expected.cardinality);
        CHECK(found.objective == expected.objective);
      }
  }
}

TEST_CASE("partners of an infeasible problem on the GPU are none, and it says so") {
  MOTES_NEED_GPU();
  Workspace workspace;
  Execution execution{1, Backend::cuda};
  execution.workspace = &workspace;
  const auto costs = testing::from_matrix({{1, matching::kInfiniteCost}, {2, matching::kInfiniteCost}});
  const matching::DeviceCosts copy{matching::CostsView(costs.view())};
  const auto found = matching::find_solver("jv")->make()->solve_for_partners(execution, copy.view());
  CHECK(found.status == Status::infeasible);
  CHECK(found.row_to_col.empty());
}

TEST_CASE("ties are not resolved for what is not an optimum") {
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
