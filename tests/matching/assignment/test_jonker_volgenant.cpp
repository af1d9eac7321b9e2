// The parts of jv, each called directly: cores so small that pricing has to do the work.

#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/instances.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "matching/assignment/core/core_solver.h"
#include "matching/assignment/dense/dense_augmenting_paths.h"
#include "matching/assignment/sparse/sparse_augmenting_paths.h"
#include "tests/support/instances.h"

using namespace motes;
using matching::Cost;
using matching::Offset;
using matching::Status;

namespace {

matching::Matching solve_with_core(const matching::CostsView& problem, Offset wanted, int threads,
                                   const matching::Start& start = {}, matching::Index of_columns = 1) {
  return matching::detail::solve_canonical(
      {threads}, problem, [&]<class Entries>(const matching::detail::Canonical<Entries>& canonical) {
        if constexpr (std::is_same_v<Entries, matching::detail::SparseEntries>)
          return matching::detail::solve_by_sparse_paths({threads}, canonical, start);
        else
          return matching::detail::solve_by_core_paths(
              {threads}, canonical, start,
              matching::detail::select_core({threads}, canonical.entries, wanted,
                                            canonical.perfect ? of_columns : 0));
      });
}

void check(const matching::CostsView& problem, const matching::Matching& answer, std::optional<Cost> best) {
  if (!best) {
    REQUIRE(answer.status == Status::infeasible);
    return;
  }
  REQUIRE(answer.status == Status::optimal);
  REQUIRE(matching::verify(problem, answer).fault == "");
  REQUIRE(answer.objective == static_cast<double>(*best));
}

}  // namespace

TEST_CASE("jv: cores of one, two and three pairs a row still end at the optimum") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    for (const auto& instance : testing::small_instances(seed)) {
      const auto best = testing::brute_force(instance.costs.view());
      const auto forms = testing::dense_forms(instance.costs);
      if (forms.empty()) continue;
      const auto& form = forms[seed % forms.size()];
      for (const Offset wanted : {1, 2, 3}) {
        INFO(form.name << " " << instance.name << " wanted " << wanted);
        check(form.view, solve_with_core(form.view, wanted, 1), best);
      }
    }
    for (const auto& instance : testing::geometric_instances(seed)) {
      INFO(instance.name);
      const auto best = testing::brute_force(matching::to_sparse(instance.costs.view()).view());
      for (const Offset wanted : {1, 2})
        check(instance.costs.view(), solve_with_core(instance.costs.view(), wanted, 1), best);
    }
  }
}

TEST_CASE("jv: a core's answer is that of the whole matrix, for any number of threads and from any start") {
  std::mt19937_64 rng(3);
  for (const Cost high : {1, 30, 300, 1'000'000}) {
    for (const matching::Index cols : {300, 330}) {
      std::vector<std::vector<Cost>> matrix(300, std::vector<Cost>(cols));
      for (auto& row : matrix)
        for (Cost& c : row) c = static_cast<Cost>(rng() % (high + 1));
      for (std::size_t k = 0; k < 300; ++k) matrix[k][7] = 0;  // a column that all rows want
      auto costs = testing::from_matrix(matrix);
      if (cols > 300) costs.unmatched_col_cost.assign(cols, 0);
      const auto form = testing::dense_forms(costs).front();
      INFO("high " << high << " cols " << cols);
      const auto reference = matching::find_solver("jv")->make()->solve({1}, costs.view());
      REQUIRE(matching::verify(costs.view(), reference).optimal());
      const auto one = solve_with_core(form.view, 8, 1);
      REQUIRE(matching::verify(form.view, one).optimal());
      CHECK(one.objective == reference.objective);
      for (const int threads : {2, 5}) {
        const auto many = solve_with_core(form.view, 8, threads);
        CHECK(many.row_to_col == one.row_to_col);
        CHECK(many.duals.v == one.duals.v);
      }
      std::vector<Cost> v(cols);
      for (Cost& x : v) x = static_cast<Cost>(rng() % 1000) - 500;
      const auto warm = solve_with_core(form.view, 8, 2, {one.row_to_col, {}, v});
      REQUIRE(matching::verify(form.view, warm).optimal());
      CHECK(warm.objective == reference.objective);
    }
  }
}

TEST_CASE(
    "jv: matrices whose cheap pairs all lie in few columns fall back to the whole matrix, and stay exact") {
  const int n = 300;
  std::vector<std::vector<Cost>> matrix(n, std::vector<Cost>(n));
  std::mt19937_64 rng(8);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) matrix[i][j] = 1000 * j + static_cast<Cost>(rng() % 700);
  const auto costs = testing::from_matrix(matrix);
  const auto form = testing::dense_forms(costs).front();
  const auto answer = solve_with_core(form.view, 4, 2);
  REQUIRE(matching::verify(form.view, answer).optimal());
  CHECK(answer.objective == matching::find_solver("jv")->make()->solve({1}, costs.view()).objective);
}

TEST_CASE("jv: where rows of a sparse graph compete, most get a column without a search") {
  const auto costs =
      matching::generate_assignment({1}, "gen:points?n=3000&sigma=1&gate=3&unmatched=3&sparse=1");
  const auto answer = matching::find_solver("jv")->make()->solve({1}, matching::view_of(costs));
  REQUIRE(matching::verify(matching::view_of(costs), answer).optimal());
  CHECK(answer.stats.augmentations < 3000 / 10);
}
