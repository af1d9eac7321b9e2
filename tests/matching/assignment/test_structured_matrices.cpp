// Matrices with structure (instances.h) through every assignment solver of the registry.

#include <catch2/catch.hpp>

#include <motes/matching/instances.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "matching/assignment/core/annealed_prices.h"
#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::Index;

namespace {

const char* const kFamilies[] = {"machol-wien?",
                                 "machol-wien?mod=101&",
                                 "low-rank?",
                                 "low-rank?rank=2&",
                                 "low-rank?rank=8&high=9&",
                                 "low-rank?rank=16&",
                                 "sums?",
                                 "sums?noise=0&",
                                 "clusters?clusters=3&",
                                 "clusters?squared=1&type=float&",
                                 "line?",
                                 "line?squared=1&",
                                 "lattice?",
                                 "lattice?shift=0&",
                                 "valued?",
                                 "valued?values=2&share=.02&",
                                 "valued?values=3&",
                                 "valued?values=1&",
                                 "banded?",
                                 "banded?blocks=1&width=4&forbidden=.3&",
                                 "heavy?",
                                 "heavy?law=power&spread=3&",
                                 "sorted?",
                                 "sorted?order=falling&",
                                 "progression?",
                                 "progression?range=100&type=double&"};

std::string recipe(const char* family, Index n, int seed) {
  return std::string("gen:") + family + "n=" + std::to_string(n) + "&seed=" + std::to_string(seed);
}

void check_certified(const matching::CostsView& problem, const matching::Matching& answer) {
  REQUIRE(answer.status == matching::Status::optimal);
  const auto certificate = matching::verify(problem, answer);
  CHECK(certificate.fault == "");
  CHECK(certificate.optimal());
  CHECK(certificate.gap == 0);
}

/// All solvers of a back end: against brute force where n is small, by certificate and each other else.
void check_families(const Execution& execution, Index n, int seeds) {
  for (const char* family : kFamilies) {
    for (int seed = 1; seed <= seeds; ++seed) {
      const std::string text = recipe(family, n, seed);
      const auto costs = matching::generate_assignment({1}, text);
      const auto problem = matching::view_of(costs);
      std::optional<double> best;
      if (n <= 8) {
        const auto least = testing::brute_force(matching::to_sparse(problem).view());
        REQUIRE(least.has_value());
        best = static_cast<double>(*least);
      }
      for (const auto& info : matching::solvers()) {
        if (info.family() != matching::Family::assignment || !info.backends.contains(execution.backend))
          continue;
        INFO(info.name << ": " << text);
        const auto answer = info.make()->solve(execution, problem);
        check_certified(problem, answer);
        if (!best) best = answer.objective;
        CHECK(answer.objective == *best);
      }
    }
  }
}

/// `jv` where it takes a core.
void check_on_core(const Execution& execution, Index n) {
  for (const char* family : kFamilies) {
    const std::string text = recipe(family, n, 1);
    INFO(text);
    const auto costs = matching::generate_assignment({1}, text);
    check_certified(matching::view_of(costs),
                    matching::find_solver("jv")->make()->solve(execution, matching::view_of(costs)));
  }
}

}  // namespace

TEST_CASE("structured matrices: every solver agrees with brute force and proves it") {
  for (const Index n : {1, 2, 7}) check_families({1}, n, n == 7 ? 3 : 1);
}

TEST_CASE("structured matrices: all solvers agree on 40 rows") { check_families({1}, 40, 2); }

TEST_CASE("structured matrices: a core is certified, whatever prices it was chosen by") {
  check_on_core({2}, 600);
}

TEST_CASE("structured matrices on the GPU: every solver agrees with brute force and proves it") {
  MOTES_NEED_GPU();
  Workspace workspace;
  Execution execution{1};
  execution.backend = Backend::cuda;
  execution.workspace = &workspace;
  check_families(execution, 7, 1);
  check_families(execution, 40, 1);
}

TEST_CASE("structured matrices on the GPU: a core is certified, whatever prices it was chosen by") {
  MOTES_NEED_GPU();
  Workspace workspace;
  Execution execution{1};
  execution.backend = Backend::cuda;
  execution.workspace = &workspace;
  check_on_core(execution, 600);
  check_on_core(execution, 2100);
}

TEST_CASE("structured matrices: threads change nothing where prices are annealed") {
  for (const char* family : {"machol-wien?", "low-rank?rank=2&", "lattice?", "progression?"}) {
    const std::string text = recipe(family, 1000, 1);
    INFO(text);
    const auto costs = matching::generate_assignment({1}, text);
    const auto solver = matching::find_solver("jv")->make();
    const auto one = solver->solve({1}, matching::view_of(costs));
    const auto three = solver->solve({3}, matching::view_of(costs));
    CHECK(one.row_to_col == three.row_to_col);
    CHECK(one.duals.u == three.duals.u);
    CHECK(one.duals.v == three.duals.v);
  }
}

TEST_CASE("annealed prices lie near an optimum's") {
  // Under good prices every row's cheapest pairs include its own: i * j is least on the antidiagonal.
  constexpr Index kSize = 1200;
  const auto costs = matching::generate_assignment({1}, recipe("machol-wien?", kSize, 1));
  const auto& matrix = std::get<matching::DenseCosts>(costs);
  const auto& entry = std::get<std::vector<std::int32_t>>(matrix.entries);
  const matching::detail::DenseEntries<std::int32_t> entries{kSize, kSize, entry.data(), kSize, 1, 1};
  const auto prices = matching::detail::annealed_prices(1, entries);
  int far = 0;
  for (Index i = 0; i < kSize; ++i) {
    const auto offer = [&](Index j) { return entries.at(i, j) - prices.v[static_cast<std::size_t>(j)]; };
    int cheaper = 0;
    for (Index j = 0; j < kSize; ++j) cheaper += offer(j) < offer(kSize - 1 - i);
    far += cheaper >= 16;
  }
  CHECK(far == 0);
}

TEST_CASE("a matrix on which the first core is of no use is handed on") {
  const auto costs = matching::generate_assignment({1}, recipe("lattice?", 1024, 1));
  const auto answer = matching::find_solver("jv")->make()->solve({1}, matching::view_of(costs));
  check_certified(matching::view_of(costs), answer);
  CHECK(answer.stats.seconds.contains("annealing"));
}

TEST_CASE("structured matrices: what is wrong with a recipe is said") {
  const auto fails = [](const std::string& text, const std::string& part) {
    CHECK_THROWS_WITH(matching::generate_assignment({1}, text), Catch::Contains(part));
  };
  fails("gen:low-rank?n=4&rank=0", "rank=0");
  fails("gen:clusters?n=4&type=int32", "type=int32 is not possible here");
  fails("gen:heavy?n=4&law=cauchy", "law=cauchy");
  fails("gen:sorted?n=4&order=up", "order=up");
  fails("gen:machol-wien?n=4&rank=2", "unknown parameter 'rank'");
  fails("gen:nothing?n=4", "progression");
}
