// Problems themselves: grids, checks, kinds.

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include <motes/matching/device_costs.h>
#include <motes/matching/registry.h>

#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using Catch::Contains;
using matching::Cost;
using matching::DenseCosts;

namespace {

DenseCosts dense(std::vector<double> entries, matching::Index rows, matching::Index cols) {
  DenseCosts costs;
  costs.rows = rows;
  costs.cols = cols;
  costs.entries = std::move(entries);
  costs.fraction_bits = 10;
  return costs;
}

/// Refused on the CPU, and with a GPU from device memory too, with these words.
void refused(const matching::CostsView& problem, const std::string& part, bool gpu) {
  CHECK_THROWS_WITH(matching::check_problem(problem), Contains(part));
  if (!gpu) return;
  const matching::DeviceCosts copy(problem);
  CHECK_THROWS_AS(matching::check_problem(copy.view()), std::invalid_argument);
}

void check_refusals(bool gpu) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  CHECK_NOTHROW(matching::check_problem(dense({1, inf, 2, 3}, 2, 2).view()));
  refused(dense({1, nan, 2, 3}, 2, 2).view(), "pair (0, 1)", gpu);
  refused(dense({1, 2, -inf, 3}, 2, 2).view(), "pair (1, 0)", gpu);
  refused(dense({1, 2, 3, 1e18}, 2, 2).view(), "pair (1, 1)", gpu);
  for (const double x : {0x1p50, 0x1p51, 0x1p52, 0x1.8p52, 0x1p53, 0x1p60, 0x1p62, 0x1p63, 0x1p64, 1e300}) {
    INFO(x);
    refused(dense({1, 2, 3, x}, 2, 2).view(), "pair (1, 1)", gpu);
    refused(dense({-x, 2, 3, 1}, 2, 2).view(), "pair (0, 0)", gpu);
  }
  DenseCosts whole;
  whole.rows = 1, whole.cols = 2;
  whole.entries = std::vector<std::int64_t>{1, std::numeric_limits<std::int64_t>::min()};
  refused(whole.view(), "pair (0, 1)", gpu);
  whole.entries = std::vector<std::int64_t>{(std::int64_t{1} << 58) + 1, 0};
  refused(whole.view(), "pair (0, 0)", gpu);

  matching::GeometricCosts points;
  points.row_points = {{0, nan}, {0, 0}, {}};
  points.col_points = {{0, 1}, {0, 0}, {}};
  refused(points.view(), "row point 1 is not finite", gpu);
  points.row_points.x[1] = inf;
  refused(points.view(), "row point 1 is not finite", gpu);
  points.row_points.x[1] = 1e18;
  refused(points.view(), "beyond 2^50 steps", gpu);
}

}  // namespace

TEST_CASE("costs that are not numbers, or too large for their grid, are refused with their place") {
  check_refusals(false);
}

TEST_CASE("costs in device memory are refused alike") {
  MOTES_NEED_GPU();
  check_refusals(true);
  auto refused_there = [](const matching::SparseCosts& p) {
    const matching::DeviceCosts copy(p.view());
    CHECK_THROWS_AS(matching::check_problem(copy.view()), std::invalid_argument);
  };
  const auto good = testing::from_matrix({{1, 2}, {3, 4}});
  const matching::DeviceCosts copy(good.view());
  CHECK_NOTHROW(matching::check_problem(copy.view()));
  auto p = good;
  p.graph.col_index = {0, 5, 0, 1};
  refused_there(p);
  p = good;
  p.graph.col_index = {1, 1, 0, 1};
  refused_there(p);
  p = good;
  p.graph.row_offsets = {0, 5, 4};
  refused_there(p);
  p = good;
  p.graph.row_offsets = {1, 2, 4};
  refused_there(p);
  p = good;
  p.cost[2] = matching::kInfiniteCost;
  refused_there(p);
}

TEST_CASE("shapes that do not fit are refused") {
  auto d = dense({1, 2, 3, 4}, 2, 2);
  auto view = d.view();
  view.row_stride = 1;
  CHECK_THROWS_WITH(matching::check_problem(view), Contains("row_stride 1"));
  view = d.view();
  view.data = static_cast<const double*>(nullptr);
  CHECK_THROWS_WITH(matching::check_problem(view), Contains("no data"));
  d.unmatched_row_cost = {1};
  CHECK_THROWS_WITH(matching::check_problem(d.view()), Contains("unmatched_row_cost has 1 entries, not 2"));
  DenseCosts whole;
  whole.rows = whole.cols = 1;
  whole.entries = std::vector<std::int32_t>{1};
  whole.fraction_bits = 3;
  CHECK_THROWS_WITH(matching::check_problem(whole.view()), Contains("fraction_bits"));
  matching::GeometricCosts points;
  points.row_points = {{0, 1}, {0}, {}};
  CHECK_THROWS_WITH(matching::check_problem(points.view()), Contains("differ in length"));
  points.row_points = {{0}, {0}, {0}};
  points.col_points = {{0}, {0}, {}};
  CHECK_THROWS_WITH(matching::check_problem(points.view()), Contains("one side has z"));
  points.col_points.z = {0};
  points.gate = -1;
  CHECK_THROWS_WITH(matching::check_problem(points.view()), Contains("gate"));
}

TEST_CASE("a start that is not a matching is refused") {
  const auto costs = testing::from_matrix({{1, 2}, {3, 4}});
  const auto solver = matching::find_solver("jv")->make();
  const std::vector<matching::Index> twice{0, 0}, outside{0, 2}, shorter{0};
  for (const auto* pairs : {&twice, &outside, &shorter})
    CHECK_THROWS_AS(solver->solve({1}, costs.view(), {*pairs, {}, {}}), std::invalid_argument);
}

TEST_CASE("the grid rounds to the nearest step, ties to even, and tells what is beyond it") {
  CHECK(matching::to_grid(0.5, 0) == 0);
  CHECK(matching::to_grid(1.5, 0) == 2);
  CHECK(matching::to_grid(-2.5, 0) == -2);
  CHECK(matching::to_grid(0.75, 2) == 3);
  CHECK(matching::to_grid(-1024, -10) == -1);
  CHECK(matching::to_grid(0x1p50, 0) == matching::kMaxGridCost);
  CHECK(matching::to_grid(std::numeric_limits<double>::infinity(), 5) == matching::kInfiniteCost);
  CHECK_THROWS(matching::to_grid(0x1p50 * 1.01, 0));
  CHECK_THROWS(matching::to_grid(std::nan(""), 0));
  CHECK_THROWS(matching::to_grid(-std::numeric_limits<double>::infinity(), 0));
}

TEST_CASE("the finest safe grid leaves room for sums over all vertices") {
  for (const double largest : {1e-9, 1.0, 3.0, 4.0, 12345.678, 1e12}) {
    for (const matching::Index n : {1, 5000, 1'000'000, 1'000'000'000}) {
      const int bits = matching::fraction_bits_for(largest, n, n);
      const Cost steps = matching::to_grid(largest, bits);
      CHECK(steps <= Cost{1} << 40);
      CHECK((2.0 * n + 2) * (2.0 * static_cast<double>(steps) + 1) <= 0x1p60);
      CHECK(static_cast<double>(steps) >= std::min(0x1p39, 0x1p54 / n));
    }
  }
  CHECK(matching::fraction_bits_for(0, 3, 3) == 0);
  CHECK_THROWS(matching::fraction_bits_for(-1, 3, 3));
  CHECK_THROWS(matching::fraction_bits_for(std::nan(""), 3, 3));
}

TEST_CASE("a solver refuses what it cannot run on") {
  const auto costs = testing::from_matrix({{1, 2}, {3, 4}});
  const auto solver = matching::find_solver("jv")->make();
  Execution cuda;
  cuda.backend = Backend::cuda;
  if (gpu::list_devices().devices.empty()) CHECK_THROWS_AS(solver->solve(cuda, costs.view()), ResourceError);
}
