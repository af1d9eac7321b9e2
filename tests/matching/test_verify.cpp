// The verifier is fed wrong answers: each single fault must be seen.

#include <catch2/catch.hpp>

#include "matching/registry.h"
#include "matching/verify.h"
#include "tests/support/instances.h"

using namespace motes;
using matching::Index;
using matching::Matching;

namespace {

struct Solved {
  matching::SparseCosts costs;
  Matching answer;
};

Solved solved_points() {
  for (auto& instance : testing::large_instances(7)) {
    if (instance.name.find("points 2000 sigma 0.3") == std::string::npos) continue;
    Matching answer = matching::find_solver("jv")->make()->solve({1}, instance.costs.view());
    return {std::move(instance.costs), std::move(answer)};
  }
  throw std::logic_error("family is gone");
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

TEST_CASE("a matching along a pair that is no edge, or with a forced vertex free, is rejected") {
  matching::SparseCosts p;
  p.graph = {2, 2, {0, 1, 2}, {0, 1}};
  p.cost = {1, 1};
  Matching m;
  m.row_to_col = {1, 0};
  m.col_to_row = {1, 0};
  m.duals = {{0, 0}, {0, 0}};
  CHECK_THAT(matching::verify(p.view(), m).fault, Catch::Contains("no edge"));
  m.row_to_col = {0, -1};
  m.col_to_row = {0, -1};
  CHECK_THAT(matching::verify(p.view(), m).fault, Catch::Contains("must be matched"));
}
