// jv's cores of matrices on the GPU: cores so small that pricing has to do the work, and matrices made to
// mislead the selection; each against jv on the CPU, and proven.

#include <functional>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/device_costs.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "matching/assignment/jonker_volgenant_device.h"
#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::Cost;
using matching::DenseCosts;
using matching::Index;
using matching::kInfiniteCost;
using matching::Status;

namespace {

class OnDevice {
 public:
  OnDevice() {
    execution_.backend = Backend::cuda;
    execution_.workspace = &workspace_;
  }
  matching::Matching solve(const matching::CostsView& problem, int wanted,
                           const matching::Start& start = {}) {
    return matching::device::solve_by_cores(execution_, problem, start, wanted);
  }
  bool proves(const matching::CostsView& problem, const matching::Matching& answer) {
    const auto certificate = matching::verify(execution_, problem, answer);
    return certificate.optimal() && certificate.gap == 0;
  }

 private:
  Workspace workspace_;
  Execution execution_;
};

template <class T>
DenseCosts matrix(Index rows, Index cols, const std::function<T(Index, Index)>& entry) {
  std::vector<T> entries;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) entries.push_back(entry(i, j));
  DenseCosts costs;
  costs.rows = rows, costs.cols = cols, costs.entries = std::move(entries);
  if (cols > rows) costs.unmatched_col_cost.assign(static_cast<std::size_t>(cols), 0);
  return costs;
}

struct Named {
  std::string name;
  DenseCosts costs;
};

/// Problems whose rows and columns may stay unmatched at a cost.
template <class Draw, class Add>
void add_unmatched(const Draw& draw, const Add& add) {
  add("unmatched costs on both sides", [&] {
    auto costs = matrix<std::int32_t>(500, 400, [&](Index, Index) { return std::int32_t(draw(1000) - 200); });
    for (int k = 0; k < 500; ++k) costs.unmatched_row_cost.push_back(draw(3));
    for (int k = 0; k < 400; ++k) costs.unmatched_col_cost.push_back(draw(30) - 15);
    return costs;
  }());
  add("unmatched costs, some rows and columns must", [&] {
    auto costs = matrix<std::int32_t>(300, 310, [&](Index, Index) { return std::int32_t(draw(100000)); });
    for (int k = 0; k < 300; ++k) costs.unmatched_row_cost.push_back(k % 3 == 0 ? kInfiniteCost : draw(300));
    costs.unmatched_col_cost.clear();
    for (int k = 0; k < 310; ++k) costs.unmatched_col_cost.push_back(k % 4 == 0 ? kInfiniteCost : draw(300));
    return costs;
  }());
  add("unmatched costs near 2^58", [&] {
    auto costs =
        matrix<std::int64_t>(60, 60, [&](Index, Index) { return (std::int64_t{1} << 58) - draw(1000); });
    costs.unmatched_row_cost.assign(60, Cost{1} << 58);
    costs.unmatched_col_cost.assign(60, (Cost{1} << 58) - 100);
    return costs;
  }());
}

/// Matrices of 300 to 5000 columns, so that both limits, exact and sampled, are met.
std::vector<Named> awkward() {
  constexpr auto kNever32 = std::numeric_limits<std::int32_t>::max();
  std::vector<Named> out;
  std::mt19937_64 rng(17);
  const auto draw = [&](Cost high) {
    return static_cast<Cost>(rng() % static_cast<std::uint64_t>(high + 1));
  };
  const auto add = [&](const std::string& name, DenseCosts costs) {
    out.push_back({name, std::move(costs)});
  };
  using I = std::int32_t;
  using L = std::int64_t;
  add("all equal", matrix<I>(400, 400, [](Index, Index) { return 5; }));
  add("all equal, wide", matrix<I>(50, 5000, [](Index, Index) { return -5; }));
  add("two values", matrix<I>(300, 4500, [&](Index, Index) { return I(draw(1)); }));
  add("few values", matrix<I>(500, 500, [&](Index, Index) { return I(draw(20)); }));
  add("uniform", matrix<I>(600, 600, [&](Index, Index) { return I(draw(6000)); }));
  add("uniform, wide", matrix<float>(300, 5000, [&](Index, Index) { return float(draw(1 << 20)); }));
  add("uniform, tall", [&] {
    auto costs = matrix<double>(700, 300, [&](Index, Index) { return double(draw(1 << 20)); });
    costs.unmatched_row_cost.assign(700, 0);
    return costs;
  }());
  add("all rows' cheapest 64 are the same columns",
      matrix<I>(400, 400, [&](Index, Index j) { return I(j < 64 ? draw(10) : 1000000 + draw(1000000)); }));
  add("all rows' cheapest 64, more columns than rows",
      matrix<I>(400, 450, [&](Index, Index j) { return I(j < 64 ? draw(10) : 1000000 + draw(1000000)); }));
  add("columns ranked the same by every row",
      matrix<L>(300, 300, [&](Index, Index j) { return 1000 * L{j} + draw(700); }));
  add("columns ranked the same by every row, one too many",
      matrix<L>(300, 301, [&](Index, Index j) { return 1000 * L{j} + draw(700); }));
  add("rows ranked the same by every column",
      matrix<L>(300, 300, [&](Index i, Index) { return 1000 * L{i} + draw(700); }));
  add("products", matrix<L>(300, 300, [&](Index i, Index j) { return L{i + 1} * (j + 1); }));
  add("geometric progression",
      matrix<L>(200, 200, [&](Index i, Index j) { return L{1} << ((7 * i + j) % 45); }));
  add("geometric progression by columns",
      matrix<double>(200, 200, [&](Index i, Index j) { return std::ldexp(1.0, (j + i * i) % 40); }));
  add("blocks",
      matrix<I>(512, 512, [&](Index i, Index j) { return I((i / 64 == j / 64 ? 0 : 100000) + draw(50)); }));
  add("blocks that do not fit",
      matrix<I>(512, 512, [&](Index i, Index j) { return I((i / 64 == j / 73 ? 0 : 100000) + draw(50)); }));
  add("a third forbidden",
      matrix<I>(400, 400, [&](Index, Index) { return draw(2) == 0 ? kNever32 : I(draw(1000)); }));
  add("nearly all forbidden", matrix<I>(400, 4200, [&](Index i, Index j) {
        return j == 10 * i || draw(500) == 0 ? I(draw(1000)) : kNever32;
      }));
  add("infeasible: too few columns for some rows",
      matrix<I>(300, 300, [&](Index i, Index j) { return i < 20 && j >= 19 ? kNever32 : I(draw(1000)); }));
  add("infeasible: rows that share two columns", matrix<float>(100, 5000, [&](Index i, Index j) {
        return i < 3 && j > 1 ? std::numeric_limits<float>::infinity() : float(draw(1000));
      }));
  add("infeasible: an empty row",
      matrix<I>(300, 300, [&](Index i, Index) { return i == 200 ? kNever32 : I(draw(1000)); }));
  add("infeasible: too tall", matrix<I>(40, 30, [&](Index, Index) { return I(draw(1000)); }));
  add("near the limits of int64", matrix<L>(4, 4, [&](Index i, Index j) {
        return (i + j) % 2 == 0 ? L{1} << 55 : -(L{1} << 55) + draw(1000);
      }));
  add("near the limits of int32", matrix<I>(300, 300, [&](Index, Index) {
        return draw(1) == 0 ? kNever32 - 1 - I(draw(9)) : -kNever32;
      }));
  add_unmatched(draw, add);
  add("a plateau that hides the way out", matrix<I>(300, 300, [&](Index i, Index j) {
        return I(j == (i + 1) % 300 ? 10 : j < 100 ? 0 : 1000 + draw(2));
      }));
  return out;
}

}  // namespace

TEST_CASE("jv on the GPU: cores of one, two and three pairs a row still end at the optimum") {
  MOTES_NEED_GPU();
  OnDevice device;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    for (const auto& instance : testing::small_instances(seed)) {
      const auto best = testing::brute_force(instance.costs.view());
      for (const auto& form : testing::dense_forms(instance.costs))
        for (const int wanted : {1, 2, 3}) {
          if ((seed + wanted) % 2 == 0) continue;
          INFO(form.name << " " << instance.name << " wanted " << wanted);
          const auto answer = device.solve(form.view, wanted);
          REQUIRE(answer.status == (best ? Status::optimal : Status::infeasible));
          if (!best) continue;
          CHECK(answer.objective == static_cast<double>(*best));
          CHECK(device.proves(form.view, answer));
        }
    }
  }
}

TEST_CASE("jv on the GPU: matrices made to mislead the selection") {
  MOTES_NEED_GPU();
  OnDevice device;
  for (const auto& [name, costs] : awkward()) {
    const auto view = costs.view();
    const auto reference = matching::find_solver("jv")->make()->solve({1}, view);
    for (const int wanted : {4, 48}) {
      INFO(name << ", wanted " << wanted);
      const auto answer = device.solve(view, wanted);
      REQUIRE(answer.status == reference.status);
      if (reference.status == Status::infeasible) continue;
      CHECK(answer.objective == reference.objective);
      CHECK(device.proves(view, answer));
    }
  }
}

TEST_CASE("for the memory and race checkers: jv on misleading matrices") {
  MOTES_NEED_GPU();
  OnDevice device;
  auto matrices = awkward();
  constexpr std::size_t kMostEntries = 45000;
  std::erase_if(matrices, [](const Named& each) {
    return static_cast<std::size_t>(each.costs.rows) * static_cast<std::size_t>(each.costs.cols) >
           kMostEntries;
  });
  matrices.push_back(
      {"all rows' cheapest 64 are the same columns", matrix<std::int32_t>(130, 130, [](Index i, Index j) {
         return j < 64 ? (i * 7 + j * 5) % 11 : 1000000 + (i * 31 + j * 17) % 1009;
       })});
  matrices.push_back({"all equal", matrix<float>(100, 180, [](Index, Index) { return 5.0F; })});
  for (const auto& [name, costs] : matrices) {
    INFO(name);
    const auto view = costs.view();
    const auto reference = matching::find_solver("jv")->make()->solve({1}, view);
    const auto answer = device.solve(view, 4);
    REQUIRE(answer.status == reference.status);
    if (reference.status == Status::infeasible) continue;
    CHECK(answer.objective == reference.objective);
    CHECK(device.proves(view, answer));
  }
}

TEST_CASE("jv on the GPU: a matrix in device memory, from right, wrong and partial starts") {
  MOTES_NEED_GPU();
  OnDevice device;
  std::mt19937_64 rng(23);
  for (const Index cols : {500, 520}) {
    const auto costs =
        matrix<std::int32_t>(500, cols, [&](Index, Index) { return std::int32_t(rng() % 2000); });
    const auto host = costs.view();
    const matching::DeviceCosts copy(host);
    const auto reference = device.solve(copy.view(), 8);
    REQUIRE(device.proves(copy.view(), reference));
    auto pairs = reference.row_to_col;
    for (std::size_t k = 0; k < pairs.size(); k += 3) pairs[k] = -1;
    auto v = reference.duals.v;
    for (Cost& x : v) x += static_cast<Cost>(rng() % 100) - 50;
    std::vector<Cost> wild(static_cast<std::size_t>(cols));
    for (Cost& x : wild) x = static_cast<Cost>(rng()) / 2;
    using matching::Start;
    for (const Start& start :
         {Start{reference.row_to_col, reference.duals.u, reference.duals.v},
          Start{reference.row_to_col, {}, {}}, Start{{}, {}, reference.duals.v},
          Start{pairs, {}, reference.duals.v}, Start{pairs, {}, v}, Start{pairs, {}, wild}}) {
      const auto answer = device.solve(copy.view(), 8, start);
      REQUIRE(answer.status == Status::optimal);
      CHECK(answer.objective == reference.objective);
      CHECK(device.proves(copy.view(), answer));
    }
  }
}

TEST_CASE("jv on the GPU: a faulty matrix in device memory is refused with the fault's place") {
  MOTES_NEED_GPU();
  Execution execution;
  execution.backend = Backend::cuda;
  const auto refuses = [&](const DenseCosts& costs) {
    const matching::DeviceCosts copy(costs.view());
    for (const auto& info : matching::solvers()) {
      if (!info.backends.contains(Backend::cuda) || info.family() != matching::Family::assignment) continue;
      INFO(info.name);
      CHECK_THROWS_WITH(info.make()->solve(execution, copy.view()), Catch::Contains("(1, 2)"));
    }
  };
  const auto with = [&]<class T>(T fault) {
    return matrix<T>(3, 3, [&](Index i, Index j) { return i == 1 && j == 2 ? fault : T(i + j); });
  };
  refuses(with(std::numeric_limits<float>::quiet_NaN()));
  refuses(with(-std::numeric_limits<float>::infinity()));
  refuses(with(1e30F));
  refuses(with(-1e300));
  refuses(with(std::numeric_limits<double>::quiet_NaN()));
  refuses(with(std::numeric_limits<std::int64_t>::min()));
  refuses(with(std::int64_t{1} << 59));
}
