// Copies: against the problem written out copy by copy, by brute force and by its certificate.

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>
#include <motes/matching/transportation.h>

#include "tests/support/instances.h"

using namespace motes;
using namespace motes::matching;

namespace {

struct Problem {
  SparseCosts costs;
  std::vector<Index> row_copies, col_copies;
  TransportationView view() const { return {costs.view(), row_copies, col_copies}; }
};

/// Few different costs where `high` is small, so that ties and broken paths are many.
Problem random_problem(std::mt19937_64& rng, Index most_rows, Index most_copies, Cost high) {
  const auto draw = [&](Cost least, Cost most) {
    return std::uniform_int_distribution<Cost>(least, most)(rng);
  };
  Problem out;
  out.costs.graph.rows = static_cast<Index>(draw(0, most_rows));
  out.costs.graph.cols = static_cast<Index>(draw(0, most_rows));
  const auto percent = draw(10, 100);
  for (Index i = 0; i < out.costs.graph.rows; ++i) {
    for (Index j = 0; j < out.costs.graph.cols; ++j) {
      if (draw(1, 100) > percent) continue;
      out.costs.graph.col_index.push_back(j);
      out.costs.cost.push_back(draw(-high / 4, high));
    }
    out.costs.graph.row_offsets.push_back(out.costs.graph.edges());
    out.costs.unmatched_row_cost.push_back(draw(-high / 4, high));
    out.row_copies.push_back(static_cast<Index>(draw(0, most_copies)));
  }
  for (Index j = 0; j < out.costs.graph.cols; ++j) {
    out.costs.unmatched_col_cost.push_back(draw(-high / 4, high));
    out.col_copies.push_back(static_cast<Index>(draw(0, most_copies)));
  }
  return out;
}

/// Every copy a vertex of its own.
SparseCosts written_out(const Problem& problem) {
  SparseCosts out;
  std::vector<Index> first{0};
  for (std::size_t j = 0; j < problem.col_copies.size(); ++j) {
    first.push_back(first.back() + problem.col_copies[j]);
    out.unmatched_col_cost.insert(out.unmatched_col_cost.end(), at(problem.col_copies[j]),
                                  problem.costs.unmatched_col_cost[j]);
  }
  out.graph.cols = first.back();
  for (std::size_t i = 0; i < problem.row_copies.size(); ++i)
    for (Index copy = 0; copy < problem.row_copies[i]; ++copy) {
      ++out.graph.rows;
      out.unmatched_row_cost.push_back(problem.costs.unmatched_row_cost[i]);
      for (auto e = at(problem.costs.graph.row_offsets[i]); e < at(problem.costs.graph.row_offsets[i + 1]);
           ++e)
        for (Index j = first[at(problem.costs.graph.col_index[e])];
             j < first[at(problem.costs.graph.col_index[e]) + 1]; ++j) {
          out.graph.col_index.push_back(j);
          out.cost.push_back(problem.costs.cost[e]);
        }
      out.graph.row_offsets.push_back(out.graph.edges());
    }
  return out;
}

}  // namespace

TEST_CASE("transportation: copies are matched as brute force matches them one by one") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 rng(seed);
    const Problem problem = random_problem(rng, 4, 3, seed % 2 == 0 ? 4 : 1000);
    const SparseCosts all = written_out(problem);
    if (all.graph.cols > 10) continue;
    CAPTURE(seed);
    const Transportation answer = solve_transportation(problem.view());
    const Certificate certificate = verify(problem.view(), answer);
    INFO(certificate.fault);
    REQUIRE(certificate.optimal());
    REQUIRE(certificate.gap == 0);
    REQUIRE(answer.objective == certificate.primal);
    REQUIRE(static_cast<Cost>(answer.objective) == testing::brute_force(all.view()));
  }
}

TEST_CASE("transportation: many copies, against the exact solver of the problem written out") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 rng(seed);
    const Problem problem = random_problem(rng, 12, 30, seed % 2 == 0 ? 6 : 100'000);
    const SparseCosts all = written_out(problem);
    CAPTURE(seed);
    const Transportation answer = solve_transportation(problem.view());
    REQUIRE(verify(problem.view(), answer).optimal());
    const Matching expected = find_solver("jv")->make()->solve({1}, all.view());
    REQUIRE(answer.objective == expected.objective);
    CHECK(solve_transportation(problem.view()).flow == answer.flow);
  }
}

TEST_CASE("transportation: a row of many copies fills many columns in one search, and back") {
  constexpr Index kMany = 20'000;
  Problem star;
  star.costs.graph.rows = 1;
  star.costs.graph.cols = kMany;
  for (Index j = 0; j < kMany; ++j) star.costs.graph.col_index.push_back(j), star.costs.cost.push_back(j);
  star.costs.graph.row_offsets = {0, kMany};
  star.costs.unmatched_row_cost = {3 * kMany};
  star.costs.unmatched_col_cost.assign(at(kMany), 0);
  star.row_copies = {kMany / 2};
  star.col_copies.assign(at(kMany), 1);
  const Transportation answer = solve_transportation(star.view());
  CHECK(verify(star.view(), answer).optimal());
  CHECK(answer.cardinality == kMany / 2);
  CHECK(answer.searches == 1);

  Problem back;
  back.costs = transpose(star.costs.view());
  back.row_copies = star.col_copies, back.col_copies = star.row_copies;
  const Transportation turned = solve_transportation(back.view());
  CHECK(verify(back.view(), turned).optimal());
  CHECK(turned.objective == answer.objective);
}

TEST_CASE("transportation: the certificate refuses wrong answers, and the solver wrong problems") {
  std::mt19937_64 rng(5);
  Problem problem = random_problem(rng, 12, 30, 100'000);
  while (solve_transportation(problem.view()).cardinality < 5) problem = random_problem(rng, 12, 30, 100'000);
  const Transportation right = solve_transportation(problem.view());
  const auto refused = [&](const auto& spoil) {
    Transportation wrong = right;
    spoil(wrong);
    return !verify(problem.view(), wrong).optimal();
  };
  const std::size_t used = at(
      std::find_if(right.flow.begin(), right.flow.end(), [](Index f) { return f > 0; }) - right.flow.begin());
  CHECK(!refused([](Transportation&) {}));
  CHECK(refused([&](Transportation& t) { --t.flow[used]; }));
  CHECK(refused([&](Transportation& t) { t.flow[used] += 31; }));
  CHECK(refused([&](Transportation& t) { t.flow[used] = -1; }));
  CHECK(refused([&](Transportation& t) { t.flow.pop_back(); }));
  CHECK(refused([&](Transportation& t) { t.duals.v.clear(); }));
  for (std::size_t i = 0; i < right.duals.u.size(); ++i)
    if (problem.row_copies[i] > 0) CHECK(refused([&](Transportation& t) { ++t.duals.u[i]; }));
  for (std::size_t j = 0; j < right.duals.v.size(); ++j)
    if (problem.col_copies[j] > 0) CHECK(refused([&](Transportation& t) { --t.duals.v[j]; }));
  const Problem pair{{{1, 1, {0, 1}, {0}}, {1}, {10}, {10}}, {3}, {3}};
  CHECK(verify(pair.view(), solve_transportation(pair.view())).primal == 3);
  const Certificate unlinked = verify(pair.view(), {{0}, {{10}, {10}}});  // all else holds
  CHECK((unlinked.matching_valid && unlinked.tight && !unlinked.dual_feasible));
  problem.costs.unmatched_row_cost[0] = kInfiniteCost;
  CHECK_THROWS_AS(solve_transportation(problem.view()), std::invalid_argument);
  problem.costs.unmatched_row_cost[0] = 0;
  problem.row_copies[0] = -1;
  CHECK_THROWS_AS(solve_transportation(problem.view()), std::invalid_argument);
  problem.row_copies.pop_back();
  CHECK_THROWS_AS(solve_transportation(problem.view()), std::invalid_argument);
}
