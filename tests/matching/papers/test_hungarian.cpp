// The Hungarian solvers beyond what every solver is tested for: all kinds of costs, both back ends, any
// number of threads, the same bits everywhere.

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/gpu/device.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::Cost;
using matching::CostsView;
using matching::Index;
using matching::kInfiniteCost;
using matching::Matching;
using matching::Status;

namespace {

constexpr const char* kNames[] = {"hungarian", "hungarian-tree"};

/// A full matrix and what goes with it.
template <class T>
struct Dense {
  std::vector<T> data;
  std::vector<Cost> row_cost, col_cost;
  matching::DenseCostsView view;

  void set(Index rows, Index cols, Index stride, int bits) {
    view = {rows, cols, stride, data.data(), bits, row_cost, col_cost, matching::Space::host};
  }
};

/// The same problem as a matrix of T, with `padding` unused entries a row; costs must fit T.
template <class T>
Dense<T> dense_of(const matching::SparseCosts& p, Index padding) {
  constexpr T forbidden = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                               : std::numeric_limits<T>::max();
  const Index rows = p.graph.rows, cols = p.graph.cols, stride = cols + padding;
  Dense<T> out{std::vector<T>(static_cast<std::size_t>(rows) * stride, forbidden),
               p.unmatched_row_cost,
               p.unmatched_col_cost,
               {}};
  for (Index i = 0; i < rows; ++i)
    for (auto e = p.graph.row_offsets[i]; e < p.graph.row_offsets[i + 1]; ++e)
      out.data[static_cast<std::size_t>(i) * stride + p.graph.col_index[e]] = static_cast<T>(p.cost[e]);
  out.set(rows, cols, stride, 0);
  return out;
}

Dense<std::int32_t> uniform(Index rows, Index cols, Cost high, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  Dense<std::int32_t> out;
  out.data.resize(static_cast<std::size_t>(rows) * cols);
  for (auto& c : out.data) c = static_cast<std::int32_t>(rng() % static_cast<std::uint64_t>(high + 1));
  if (rows < cols) out.col_cost.assign(cols, 0);
  if (rows > cols) out.row_cost.assign(rows, 0);
  out.set(rows, cols, cols, 0);
  return out;
}

/// Points in a cube with unit mean spacing, and displaced copies.
struct Points {
  std::vector<double> at[6];
  std::vector<Cost> row_cost, col_cost;
  matching::GeometricCostsView view;

  Points(Index n, double sigma, std::uint64_t seed, int bits) {
    std::mt19937_64 rng(seed);
    std::uniform_real_distribution<> place(0, std::cbrt(static_cast<double>(n)));
    std::normal_distribution<> move(0, sigma);
    for (auto& axis : at) axis.resize(n);
    for (Index i = 0; i < n; ++i)
      for (int k = 0; k < 3; ++k) at[3 + k][(i * 7 + 3) % n] = (at[k][i] = place(rng)) + move(rng);
    view.row_points = {at[0], at[1], at[2]};
    view.col_points = {at[3], at[4], at[5]};
    view.fraction_bits = bits;
  }
};

void check_proof(const CostsView& problem, const Matching& answer) {
  const auto certificate = matching::verify(problem, answer);
  CHECK(certificate.fault == "");
  REQUIRE(certificate.optimal());
  REQUIRE(certificate.gap == 0);
  const auto& gained = answer.stats.assignments;
  CHECK(answer.stats.initial_assignments + std::accumulate(gained.begin(), gained.end(), std::int64_t{0}) ==
        answer.cardinality);
}

void check_same(const Matching& a, const Matching& b) {
  REQUIRE(a.status == b.status);
  CHECK(a.objective == b.objective);
  CHECK(a.stats.initial_assignments == b.stats.initial_assignments);
  CHECK(a.stats.phases == b.stats.phases);
  CHECK(a.stats.rounds == b.stats.rounds);
  CHECK(a.stats.augmentations == b.stats.augmentations);
  CHECK(a.stats.assignments == b.stats.assignments);
  if (a.status == Status::infeasible) return;
  CHECK(a.row_to_col == b.row_to_col);
  CHECK(a.duals.u == b.duals.u);
  CHECK(a.duals.v == b.duals.v);
}

/// On the CPU, with threads; proven, and compared with an optimum where the caller knows it.
Matching check_cpu(const matching::AssignmentSolver& solver, const CostsView& problem) {
  const Matching one = solver.solve({1}, problem);
  if (one.status != Status::infeasible) check_proof(problem, one);
  for (const int threads : {2, 3}) check_same(one, solver.solve({threads}, problem));
  return one;
}

bool fits_int32(const matching::SparseCosts& p) {
  for (const Cost c : p.cost)
    if (c >= std::numeric_limits<std::int32_t>::max() || c < std::numeric_limits<std::int32_t>::min())
      return false;
  return true;
}

/// Calls f(name, problem) for the instance in every kind that can hold it.
template <class F>
void in_every_kind(const testing::Instance& instance, F&& f) {
  const auto& p = instance.costs;
  f(instance.name + ", sparse", CostsView(p.view()));
  const auto wide = dense_of<std::int64_t>(p, 1);
  f(instance.name + ", int64", CostsView(wide.view));
  if (!fits_int32(p)) return;
  const auto narrow = dense_of<std::int32_t>(p, (4 - p.graph.cols % 4) % 4);
  f(instance.name + ", int32", CostsView(narrow.view));
  const auto real = dense_of<double>(p, 0);
  f(instance.name + ", double", CostsView(real.view));
}

/// The problem's arrays in device memory.
struct OnDevice {
  std::vector<gpu::DeviceBytes> kept;
  CostsView view;

  template <class T>
  std::span<const T> keep(std::span<const T> values) {
    if (values.empty()) return values;
    kept.emplace_back(values.size_bytes());
    kept.back().upload(values.data(), values.size_bytes());
    return {static_cast<const T*>(kept.back().data()), values.size()};
  }
  explicit OnDevice(const CostsView& host) : view(host) {
    std::visit(
        [&](auto& v) {
          using View = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<View, matching::SparseCostsView>) {
            v.graph.row_offsets = keep(v.graph.row_offsets);
            v.graph.col_index = keep(v.graph.col_index);
            v.cost = keep(v.cost);
          } else if constexpr (std::is_same_v<View, matching::DenseCostsView>) {
            const auto count = static_cast<std::size_t>(v.rows) * static_cast<std::size_t>(v.row_stride);
            std::visit([&](const auto* data) { v.data = keep(std::span(data, count)).data(); }, v.data);
          } else {
            for (auto* side : {&v.row_points, &v.col_points})
              for (auto* axis : {&side->x, &side->y, &side->z}) *axis = keep(*axis);
          }
          v.unmatched_row_cost = keep(v.unmatched_row_cost);
          v.unmatched_col_cost = keep(v.unmatched_col_cost);
          v.space = matching::Space::device;
        },
        view);
  }
};

/// The GPU, from host and from device memory, against the CPU.
void check_gpu(const matching::AssignmentSolver& solver, const CostsView& problem, Workspace& kept) {
  Execution gpu;
  gpu.backend = Backend::cuda;
  gpu.workspace = &kept;
  const Matching one = solver.solve({1}, problem);
  check_same(one, solver.solve(gpu, problem));
  check_same(one, solver.solve(gpu, OnDevice(problem).view));
}

}  // namespace

TEST_CASE("hungarian: every family, as every kind of costs, with any number of threads") {
  for (const char* name : kNames) {
    const auto solver = matching::find_solver(name)->make();
    for (std::uint64_t seed = 11; seed <= 13; ++seed)
      for (const auto& instance : testing::small_instances(seed)) {
        const auto best = testing::brute_force(instance.costs.view());
        in_every_kind(instance, [&](const std::string& what, const CostsView& problem) {
          INFO(name << ": " << what);
          const Matching answer = check_cpu(*solver, problem);
          if (best)
            REQUIRE(answer.objective == static_cast<double>(*best));
          else
            REQUIRE(answer.status == Status::infeasible);
        });
      }
    for (const auto& instance : testing::large_instances(7)) {
      if (instance.costs.graph.rows > 500) continue;
      in_every_kind(instance, [&](const std::string& what, const CostsView& problem) {
        INFO(name << ": " << what);
        check_cpu(*solver, problem);
      });
    }
  }
}

TEST_CASE("hungarian: a thousand rows, the three ranges of the paper, rectangles and points") {
  for (const char* name : kNames) {
    const auto solver = matching::find_solver(name)->make();
    for (const Cost high : {100, 1000, 10000}) {
      INFO(name << ": uniform 1000 high " << high);
      const auto problem = uniform(1000, 1000, high, 1);
      check_cpu(*solver, problem.view);
    }
    for (const auto& [rows, cols] : {std::pair<Index, Index>{300, 500}, {500, 300}}) {
      INFO(name << ": uniform " << rows << " x " << cols);
      const auto problem = uniform(rows, cols, 1000, 2);
      check_cpu(*solver, problem.view);
    }
    for (const double sigma : {0.3, 1.0}) {
      INFO(name << ": points 400 sigma " << sigma);
      const Points points(400, sigma, 3, 24);
      check_cpu(*solver, points.view);
    }
  }
}

TEST_CASE("hungarian: a warm start from any matching and any duals, right or wrong") {
  for (const char* name : kNames) {
    const auto solver = matching::find_solver(name)->make();
    for (const auto& instance : testing::large_instances(9)) {
      if (instance.costs.graph.rows > 500) continue;
      INFO(name << ": " << instance.name);
      const auto problem = instance.costs.view();
      const Matching cold = solver->solve({1}, problem);
      if (cold.status == Status::infeasible) continue;
      const Matching again = solver->solve({2}, problem, {cold.row_to_col, cold.duals.u, cold.duals.v});
      check_proof(problem, again);
      CHECK(again.objective == cold.objective);
      auto v = cold.duals.v;
      std::mt19937_64 rng(5);
      for (Cost& x : v) x += static_cast<Cost>(rng() % 101) - 50;
      const Matching stale = solver->solve({1}, problem, {cold.row_to_col, {}, v});
      check_proof(problem, stale);
      CHECK(stale.objective == cold.objective);
    }
  }
}

TEST_CASE("hungarian on the GPU: the CPU's bits, for small problems of every kind") {
  MOTES_NEED_GPU();
  Workspace kept;
  for (const char* name : kNames) {
    const auto solver = matching::find_solver(name)->make();
    for (std::uint64_t seed = 31; seed <= 33; ++seed)
      for (const auto& instance : testing::small_instances(seed))
        in_every_kind(instance, [&](const std::string& what, const CostsView& problem) {
          INFO(name << ": " << what);
          check_gpu(*solver, problem, kept);
        });
    const Points points(40, 0.7, 3, 24);
    check_gpu(*solver, points.view, kept);
  }
}

// Few enough for compute-sanitizer, yet every kernel for every kind of costs.
TEST_CASE("hungarian on the GPU: a handful of tiny problems") {
  MOTES_NEED_GPU();
  Workspace kept;
  for (const char* name : kNames) {
    const auto solver = matching::find_solver(name)->make();
    const auto instances = testing::small_instances(51);
    for (std::size_t k = 1; k < instances.size(); k += 16)
      in_every_kind(instances[k], [&](const std::string& what, const CostsView& problem) {
        INFO(name << ": " << what);
        check_gpu(*solver, problem, kept);
      });
    const auto square = uniform(57, 57, 30, 1);
    check_gpu(*solver, square.view, kept);
    const auto wide = uniform(20, 60, 30, 1);
    check_gpu(*solver, wide.view, kept);
    const Points points(40, 0.7, 4, 24);
    check_gpu(*solver, points.view, kept);
  }
}

TEST_CASE("hungarian on the GPU: the CPU's bits, for larger problems") {
  MOTES_NEED_GPU();
  Workspace kept;
  for (const char* name : kNames) {
    const auto solver = matching::find_solver(name)->make();
    for (const auto& instance : testing::large_instances(8)) {
      INFO(name << ": " << instance.name);
      check_gpu(*solver, instance.costs.view(), kept);
      if (instance.costs.graph.rows > 500) continue;
      in_every_kind(instance, [&](const std::string& what, const CostsView& problem) {
        INFO(name << ": " << what);
        check_gpu(*solver, problem, kept);
      });
    }
    for (const Cost high : {100, 1000, 10000}) {
      INFO(name << ": uniform 1000 high " << high);
      const auto problem = uniform(1000, 1000, high, 4);
      check_gpu(*solver, problem.view, kept);
    }
    for (const auto& [rows, cols] : {std::pair<Index, Index>{301, 503}, {503, 301}}) {
      INFO(name << ": uniform " << rows << " x " << cols);
      const auto problem = uniform(rows, cols, 1000, 2);
      check_gpu(*solver, problem.view, kept);
    }
    for (const double sigma : {0.3, 1.0}) {
      INFO(name << ": points 400 sigma " << sigma);
      const Points points(400, sigma, 3, 24);
      check_gpu(*solver, points.view, kept);
    }
  }
}

TEST_CASE("hungarian on the GPU: warm starts") {
  MOTES_NEED_GPU();
  for (const char* name : kNames) {
    const auto solver = matching::find_solver(name)->make();
    Execution gpu;
    gpu.backend = Backend::cuda;
    for (const auto& instance : testing::small_instances(41)) {
      INFO(name << ": " << instance.name);
      const auto problem = instance.costs.view();
      const Matching cold = solver->solve({1}, problem);
      if (cold.status == Status::infeasible) continue;
      auto v = cold.duals.v;
      std::mt19937_64 rng(5);
      for (Cost& x : v) x += static_cast<Cost>(rng() % 11) - 5;
      const matching::Start start{cold.row_to_col, {}, v};
      check_same(solver->solve({1}, problem, start), solver->solve(gpu, problem, start));
    }
  }
}
