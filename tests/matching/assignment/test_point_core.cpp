// Points on the GPU: the curve they are sorted by, the pairs a gate allows, jv without a matrix, and the
// certificate that passes over most pairs; each against the plain way of doing it.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/device_costs.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "matching/points/hilbert_curve.h"
#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::Cost;
using matching::GeometricCosts;
using matching::Index;
using matching::kInfiniteCost;
using matching::Metric;
using matching::Status;
using Points = matching::GeometricCosts::Points;

namespace {

using Random = std::mt19937_64;
double uniform(Random& random, double high) {
  return std::uniform_real_distribution<double>(0, high)(random);
}
double normal(Random& random, double sigma) { return std::normal_distribution<double>(0, sigma)(random); }

void add(Points& points, double x, double y, double z) {
  points.x.push_back(x), points.y.push_back(y), points.z.push_back(z);
}

Points cube(Random& random, Index count, double side) {
  Points out;
  for (Index i = 0; i < count; ++i)
    add(out, uniform(random, side), uniform(random, side), uniform(random, side));
  return out;
}
Points moved(Random& random, const Points& from, double sigma) {
  Points out;
  for (std::size_t i = 0; i < from.x.size(); ++i)
    add(out, from.x[i] + normal(random, sigma), from.y[i] + normal(random, sigma),
        from.z[i] + normal(random, sigma));
  return out;
}

struct Named {
  std::string name;
  GeometricCosts costs;
};

/// Point sets that a grid with one cell size, or one box, would suffer from.
std::vector<Named> shapes(std::uint64_t seed, Index count) {
  Random random(seed);
  const double side = std::cbrt(static_cast<double>(count));
  std::vector<Named> out;
  const auto put = [&](const std::string& name, Points rows, Points cols) {
    GeometricCosts costs;
    costs.row_points = std::move(rows), costs.col_points = std::move(cols);
    costs.fraction_bits = 16;
    out.push_back(
        {name + ", " + std::to_string(count) + " points, seed " + std::to_string(seed), std::move(costs)});
  };
  const Points base = cube(random, count, side);
  put("uniform", base, moved(random, base, 0.3));
  Points clusters;
  for (Index i = 0; i < count; ++i) {
    const double at = 1e6 * static_cast<double>(random() % 2);
    add(clusters, at + normal(random, 1), normal(random, 1), at + normal(random, 1));
  }
  put("two far clusters", clusters, moved(random, clusters, 0.1));
  Points outlier = base;
  if (count > 0) outlier.x[0] = 1e6, outlier.y.back() = -1e6;
  put("outliers", outlier, moved(random, base, 0.3));
  Points tight;
  for (Index i = 0; i < count; ++i) {
    const double at = i % 3 == 0 ? 1e9 : 0;  // beyond one cut of the curve
    add(tight, at + uniform(random, 1), uniform(random, 1), uniform(random, 1));
  }
  put("clusters below one cell", tight, moved(random, tight, 0.01));
  Points line, lattice, one, slab;
  for (Index i = 0; i < count; ++i) {
    add(line, i, 2.0 * i, -i);
    add(lattice, i % 7, i / 7 % 7, i / 49);
    add(one, 3, 4, 5);
    add(slab, uniform(random, side * side), uniform(random, side), 1e-9 * uniform(random, 1));
  }
  put("a line", line, line);
  put("lattice", lattice, lattice);
  put("one position", one, one);
  put("a slab", slab, moved(random, slab, 1e-3));
  Points flat = base, flat_moved = moved(random, base, 0.2);
  flat.z.clear(), flat_moved.z.clear();
  put("a plane", flat, flat_moved);
  return out;
}

class OnDevice {
 public:
  OnDevice() {
    execution_.backend = Backend::cuda;
    execution_.workspace = &workspace_;
  }
  const Execution& execution() const { return execution_; }
  matching::Matching solve(const matching::CostsView& problem, const matching::Start& start = {}) {
    return matching::find_solver("jv")->make()->solve(execution_, problem, start);
  }
  matching::Certificate verify(const matching::CostsView& problem, const matching::Matching& answer) {
    return matching::verify(execution_, problem, answer);
  }

 private:
  Workspace workspace_;
  Execution execution_;
};

/// jv on the GPU against jv on the CPU, both proven, the GPU's answer by both verifiers.
void compare(OnDevice& gpu, const GeometricCosts& costs) {
  const auto expected = matching::find_solver("jv")->make()->solve({}, costs.view());
  const auto answer = gpu.solve(costs.view());
  REQUIRE(answer.status == expected.status);
  if (expected.status == Status::infeasible) return;
  CHECK(answer.objective == expected.objective);
  CHECK(answer.gap == 0);
  const auto mine = gpu.verify(costs.view(), answer), plain = matching::verify(costs.view(), answer);
  CHECK(mine.fault == "");
  CHECK(mine.optimal());
  CHECK(plain.fault == "");
  CHECK(plain.optimal());
  CHECK(mine.gap == 0);
  CHECK(answer.cardinality ==
        std::count_if(answer.row_to_col.begin(), answer.row_to_col.end(), [](Index j) { return j != -1; }));
}

void set_unmatched(Random& random, GeometricCosts& costs, Cost high, int one_in_infinite) {
  const auto draw = [&](std::vector<Cost>& side, std::size_t count) {
    side.resize(count);
    for (Cost& c : side)
      c = one_in_infinite > 0 && random() % static_cast<unsigned>(one_in_infinite) == 0
              ? kInfiniteCost
              : static_cast<Cost>(random() % static_cast<std::uint64_t>(high));
  };
  draw(costs.unmatched_row_cost, costs.row_points.x.size());
  draw(costs.unmatched_col_cost, costs.col_points.x.size());
}

void shorten(Points& points, std::size_t count) {
  points.x.resize(count), points.y.resize(count);
  if (!points.z.empty()) points.z.resize(count);
}

}  // namespace

TEST_CASE("the curve visits every cell, each beside the one before") {
  constexpr std::uint32_t kSide = 16;
  std::vector<std::pair<std::uint64_t, std::array<int, 3>>> cells;
  for (std::uint32_t x = 0; x < kSide; ++x)
    for (std::uint32_t y = 0; y < kSide; ++y)
      for (std::uint32_t z = 0; z < kSide; ++z)
        cells.push_back({matching::device::curve_place(x, y, z),
                         {static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)}});
  std::sort(cells.begin(), cells.end());
  for (std::size_t k = 0; k < cells.size(); ++k) {
    REQUIRE(cells[k].first == k);
    if (k == 0) continue;
    int steps = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      steps += std::abs(cells[k].second[axis] - cells[k - 1].second[axis]);
    REQUIRE(steps == 1);
  }
  constexpr std::uint32_t kLast = (1U << matching::device::kCurveBits) - 1;
  CHECK(matching::device::curve_place(kLast, kLast, kLast) >> 63 == 0);
}

TEST_CASE("points on the GPU: jv's small instances agree with the CPU") {
  MOTES_NEED_GPU();
  OnDevice gpu;
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const auto& [name, costs] : testing::geometric_instances(seed)) {
      INFO(name);
      compare(gpu, costs);
    }
}

TEST_CASE("points on the GPU: jv without a matrix agrees with the CPU") {
  MOTES_NEED_GPU();
  OnDevice gpu;
  Random random(11);
  for (const Index count : {1, 2, 5, 17, 64, 65, 100, 200, 700}) {
    for (auto& [name, costs] : shapes(100 + static_cast<std::uint64_t>(count), count)) {
      INFO(name);
      compare(gpu, costs);
      costs.metric = Metric::squared;
      if (name.find("far") == std::string::npos && name.find("out") == std::string::npos &&
          name.find("below") == std::string::npos)
        compare(gpu, costs);
      costs.metric = Metric::euclidean;
      set_unmatched(random, costs, 1 << 17, static_cast<int>(random() % 3) * 4);
      compare(gpu, costs);
      shorten(random() % 2 == 0 ? costs.row_points : costs.col_points,
              static_cast<std::size_t>(count) / 2 + 1);
      costs.unmatched_row_cost.resize(costs.row_points.x.size());
      costs.unmatched_col_cost.resize(costs.col_points.x.size());
      compare(gpu, costs);
      costs.gate = 1.5;
      compare(gpu, costs);
      costs.gate = 40;
      compare(gpu, costs);
      costs.unmatched_row_cost.clear(), costs.unmatched_col_cost.clear();
      compare(gpu, costs);  // infeasible where sides differ, mostly
    }
  }
}

TEST_CASE("for the memory and race checkers: points without a matrix") {
  MOTES_NEED_GPU();
  OnDevice gpu;
  Random random(12);
  auto some = shapes(21, 70);
  for (std::size_t k = 0; k < some.size(); k += 3) {
    GeometricCosts& costs = some[k].costs;
    INFO(some[k].name);
    compare(gpu, costs);
    costs.gate = 1.5;
    set_unmatched(random, costs, 1 << 17, 0);
    compare(gpu, costs);
  }
}

TEST_CASE("points on the GPU: a large problem in device memory, warm and cold") {
  MOTES_NEED_GPU();
  OnDevice gpu;
  for (const bool unmatched : {false, true}) {
    Random random(5);
    GeometricCosts costs;
    costs.row_points = cube(random, 20000, 27.1), costs.col_points = moved(random, costs.row_points, 0.5);
    costs.fraction_bits = 24;
    if (unmatched) set_unmatched(random, costs, Cost{1} << 25, 0);
    const matching::DeviceCosts copy(costs.view());
    const auto cold = gpu.solve(copy.view());
    REQUIRE(cold.status == Status::optimal);
    CHECK(gpu.verify(copy.view(), cold).optimal());
    const auto warm = gpu.solve(copy.view(), {cold.row_to_col, cold.duals.u, cold.duals.v});
    CHECK(warm.objective == cold.objective);
    CHECK(gpu.verify(costs.view(), warm).optimal());
    const auto again = gpu.solve(costs.view());
    CHECK(again.objective == cold.objective);
  }
}

TEST_CASE("points on the GPU: the certificate finds what is wrong") {
  MOTES_NEED_GPU();
  OnDevice gpu;
  for (const auto& [name, costs] : shapes(23, 3000)) {
    INFO(name);
    const auto good = gpu.solve(costs.view());
    REQUIRE(gpu.verify(costs.view(), good).optimal());
    Random random(29);
    for (int trial = 0; trial < 6; ++trial) {
      auto wrong = good;
      const auto k = static_cast<std::size_t>(random() % 3000);
      if (trial < 2)
        wrong.duals.v[k] += trial == 0 ? 1 : Cost{1} << 30;
      else if (trial < 4)
        wrong.duals.u[k] += trial == 2 ? 1 : kInfiniteCost / 2;
      else if (trial == 4)
        wrong.duals.u[k] -= 1;
      else
        for (Cost& v : wrong.duals.v) v += 3;
      const auto mine = gpu.verify(costs.view(), wrong), plain = matching::verify(costs.view(), wrong);
      CHECK(!mine.optimal());
      CHECK(mine.fault == plain.fault);
      CHECK(mine.dual_feasible == plain.dual_feasible);
      CHECK(mine.tight == plain.tight);
    }
  }
}
