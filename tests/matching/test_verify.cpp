// The verifier is fed wrong answers: each single fault must be seen.

#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include <motes/matching/device_costs.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::Index;
using matching::Matching;

namespace {

struct Solved {
  matching::SparseCosts costs;
  Matching answer;
};

Solved solved_points() {
  matching::SparseCosts costs = testing::points_costs(7, 2000, 0.3);
  Matching answer = matching::find_solver("jv")->make()->solve({1}, costs.view());
  return {std::move(costs), std::move(answer)};
}

void rejected(const Solved& s, const Matching& wrong, const std::string& part) {
  const auto certificate = matching::verify(s.costs.view(), wrong);
  CHECK_FALSE(certificate.optimal());
  CHECK_THAT(certificate.fault, Catch::Contains(part));
}

}  // namespace

TEST_CASE("the verifier accepts the right answer and rejects each wrong one") {
  const Solved s = solved_points();
  REQUIRE(matching::verify(s.costs.view(), s.answer).optimal());
  Index matched_row = 0;
  while (s.answer.row_to_col[matched_row] == -1) ++matched_row;
  const Index matched_col = s.answer.row_to_col[matched_row];
  Index free_row = 0;
  while (s.answer.row_to_col[free_row] != -1) ++free_row;

  Matching wrong = s.answer;
  wrong.col_to_row[matched_col] = -1;
  rejected(s, wrong, "disagree");
  wrong = s.answer;
  wrong.row_to_col[matched_row] = wrong.col_to_row[matched_col] = -1;
  rejected(s, wrong, "not tight");
  wrong = s.answer;
  wrong.row_to_col[free_row] = matched_col;
  rejected(s, wrong, "disagree");
  wrong = s.answer;
  wrong.row_to_col[matched_row] = static_cast<Index>(s.costs.graph.cols);
  rejected(s, wrong, "outside");
  wrong = s.answer;
  wrong.duals.u[matched_row] += 1;
  rejected(s, wrong, "exceed");
  wrong = s.answer;
  wrong.duals.u[matched_row] -= 1;
  rejected(s, wrong, "not tight");
  wrong = s.answer;
  wrong.duals.v[matched_col] -= 1;
  rejected(s, wrong, "not tight");
  wrong = s.answer;
  wrong.duals.u[free_row] -= 1;
  rejected(s, wrong, "not tight");
  wrong = s.answer;
  wrong.duals.u[free_row] += 1;
  rejected(s, wrong, "above its unmatched cost");
  wrong = s.answer;
  wrong.duals.v.pop_back();
  rejected(s, wrong, "duals");
  wrong = s.answer;
  wrong.row_to_col.pop_back();
  rejected(s, wrong, "wrong number");
}

TEST_CASE("a matching along a pair that is not an edge, or with a forced vertex free, is rejected") {
  matching::SparseCosts p;
  p.graph = {2, 2, {0, 1, 2}, {0, 1}};
  p.cost = {1, 1};
  Matching m;
  m.row_to_col = {1, 0};
  m.col_to_row = {1, 0};
  m.duals = {{0, 0}, {0, 0}};
  CHECK_THAT(matching::verify(p.view(), m).fault, Catch::Contains("is not an edge"));
  m.row_to_col = {0, -1};
  m.col_to_row = {0, -1};
  CHECK_THAT(matching::verify(p.view(), m).fault, Catch::Contains("must be matched"));
}

namespace {

struct Wrong {
  std::string part;  ///< of the fault's text
  Matching answer;
};

/// One single fault each, of an answer whose first row is matched and which leaves a row free.
std::vector<Wrong> wrong_answers(const Matching& right) {
  const auto matched = static_cast<Index>(
      std::find_if(right.row_to_col.begin(), right.row_to_col.end(), [](Index j) { return j != -1; }) -
      right.row_to_col.begin());
  const auto free = static_cast<Index>(std::find(right.row_to_col.begin(), right.row_to_col.end(), -1) -
                                       right.row_to_col.begin());
  const Index col = right.row_to_col[matched];
  std::vector<Wrong> out;
  const auto add = [&](const std::string& part, auto&& change) {
    out.push_back({part, right});
    change(out.back().answer);
  };
  add("disagree", [&](Matching& m) { m.col_to_row[col] = -1; });
  add("outside", [&](Matching& m) { m.row_to_col[matched] = static_cast<Index>(m.col_to_row.size()); });
  add("outside", [&](Matching& m) { m.row_to_col[matched] = -7; });
  add("not tight", [&](Matching& m) { m.row_to_col[matched] = m.col_to_row[col] = -1; });
  add("exceed", [&](Matching& m) { ++m.duals.u[matched]; });
  add("exceed", [&](Matching& m) { ++m.duals.v[col]; });
  add("not tight", [&](Matching& m) { --m.duals.u[matched]; });
  add("not tight", [&](Matching& m) { --m.duals.v[col]; });
  add("not tight", [&](Matching& m) { --m.duals.u[free]; });
  add("above its unmatched cost", [&](Matching& m) { ++m.duals.u[free]; });
  add("exceed", [&](Matching& m) { m.duals.u[matched] = std::numeric_limits<matching::Cost>::max(); });
  add("not tight", [&](Matching& m) { m.duals.u[matched] = std::numeric_limits<matching::Cost>::min(); });
  add("wrong length", [&](Matching& m) { m.duals.v.pop_back(); });
  add("wrong length", [&](Matching& m) { m.duals = {}; });
  add("wrong number", [&](Matching& m) { m.col_to_row.push_back(-1); });
  return out;
}

/// The same answer on the CPU and, with a GPU, there from either memory: same verdict, same words.
void check_everywhere(const matching::CostsView& problem, const Matching& answer, const std::string& part,
                      bool gpu) {
  const auto check = [&](const Execution& execution, const matching::CostsView& view) {
    const auto certificate = matching::verify(execution, view, answer);
    CHECK(certificate.optimal() == part.empty());
    if (part.empty())
      CHECK(certificate.fault == "");
    else
      CHECK_THAT(certificate.fault, Catch::Contains(part));
    return certificate;
  };
  const auto reference = check({}, problem);
  CHECK(check({3}, problem).fault == reference.fault);
  if (!gpu) return;
  Execution cuda;
  cuda.backend = Backend::cuda;
  const matching::DeviceCosts copy(problem);
  for (const auto& view : {problem, copy.view()}) {
    const auto other = check(cuda, view);
    CHECK(other.fault == reference.fault);
    CHECK(other.primal == reference.primal);
    CHECK(other.dual == reference.dual);
    CHECK(other.gap == reference.gap);
  }
}

void check_all_kinds(bool gpu) {
  const auto solver = matching::find_solver("jv")->make();
  const auto check = [&](const std::string& name, const matching::CostsView& problem) {
    INFO(name);
    const Matching answer = solver->solve({1}, problem);
    REQUIRE(answer.status == matching::Status::optimal);
    REQUIRE(std::find(answer.row_to_col.begin(), answer.row_to_col.end(), -1) != answer.row_to_col.end());
    check_everywhere(problem, answer, "", gpu);
    for (const Wrong& wrong : wrong_answers(answer)) {
      INFO(wrong.part);
      check_everywhere(problem, wrong.answer, wrong.part, gpu);
    }
  };
  const matching::SparseCosts sparse = testing::points_costs(3, 2000, 0.3);
  check("sparse", sparse.view());
  std::vector<std::vector<matching::Cost>> matrix(40, std::vector<matching::Cost>(33));
  std::mt19937_64 rng(9);
  for (auto& row : matrix)
    for (auto& c : row)
      c = rng() % 5 == 0 ? matching::kInfiniteCost : static_cast<matching::Cost>(rng() % 100);
  auto costs = testing::from_matrix(matrix);
  costs.unmatched_row_cost.assign(40, 60);
  costs.unmatched_col_cost.assign(33, 20);
  for (const auto& form : testing::dense_forms(costs)) check(form.name, form.view);
  matching::GeometricCosts points;
  for (int k = 0; k < 50; ++k)
    for (auto* side : {&points.row_points, &points.col_points})
      for (auto* axis : {&side->x, &side->y, &side->z})
        axis->push_back(static_cast<double>(rng() % 1000) / 250);
  points.gate = 0.9;
  points.fraction_bits = 30;
  points.unmatched_row_cost.assign(50, matching::to_grid(0.9, 30));
  points.unmatched_col_cost.assign(50, matching::to_grid(0.9, 30));
  check("points", points.view());
}

}  // namespace

TEST_CASE("the verifier rejects each wrong answer for every kind of costs") { check_all_kinds(false); }

TEST_CASE("the verifier says the same on the GPU as on the CPU") {
  MOTES_NEED_GPU();
  check_all_kinds(true);
}
