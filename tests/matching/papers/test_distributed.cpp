// The Hungarian solvers over several ranks, here threads: the bits of one rank, proven by the certificate
// over all ranks, however the costs are distributed.

#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/matching/distributed.h>
#include <motes/matching/instances.h>
#include <motes/matching/registry.h>

#include "tests/matching/gpu_ranks.h"
#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::Cost;
using matching::Costs;
using matching::Index;
using matching::Matching;
using matching::Status;
using testing::gpu_ranks;

namespace {

constexpr const char* kNames[] = {"hungarian", "hungarian-tree"};

bool same(const Matching& a, const Matching& b) {
  return a.status == b.status && a.row_to_col == b.row_to_col && a.col_to_row == b.col_to_row &&
         a.cardinality == b.cardinality && a.objective == b.objective && a.duals.u == b.duals.u &&
         a.duals.v == b.duals.v && a.stats.initial_assignments == b.stats.initial_assignments &&
         a.stats.phases == b.stats.phases && a.stats.rounds == b.stats.rounds &&
         a.stats.augmentations == b.stats.augmentations && a.stats.assignments == b.stats.assignments;
}

struct Answer {
  Matching matching;
  matching::Certificate certificate;
};

using Problem = std::pair<std::string, Costs>;  ///< with its name

/// The answers of each of `size` ranks to each of the problems. All problems are solved by the same ranks,
/// since connecting their GPUs takes a second.
std::vector<std::vector<Answer>> on_ranks(int size, const std::string& solver,
                                          const std::vector<Problem>& problems,
                                          Backend backend = Backend::cpu, int threads = 1) {
  std::vector<std::vector<Answer>> answers(problems.size(),
                                           std::vector<Answer>(static_cast<std::size_t>(size)));
  run_as_threads(size, [&](Communicator& ranks) {
    Execution execution;
    execution.threads = threads;
    execution.backend = backend;
    for (std::size_t k = 0; k < problems.size(); ++k) {
      const Costs& costs = problems[k].second;
      const auto split = matching::split_of(solver, view_of(costs));
      const auto distributed = matching::distribute(ranks, split, Costs(costs));
      Answer& answer = answers[k][static_cast<std::size_t>(ranks.rank())];
      answer.matching = matching::solve_distributed(ranks, execution, solver, distributed);
      if (answer.matching.status == Status::optimal)
        answer.certificate = matching::verify_distributed(ranks, execution, distributed, answer.matching);
    }
  });
  return answers;
}

std::vector<Answer> on_ranks(int size, const std::string& solver, const Costs& costs,
                             Backend backend = Backend::cpu, int threads = 1) {
  return on_ranks(size, solver, std::vector<Problem>{{"", costs}}, backend, threads)[0];
}

void check_ranks(const std::string& name, const std::vector<Problem>& problems, const std::vector<int>& sizes,
                 Backend backend = Backend::cpu) {
  std::vector<Matching> one;
  for (const auto& [what, costs] : problems)
    one.push_back(matching::find_solver(name)->make()->solve({1}, view_of(costs)));
  for (const int size : sizes) {
    const auto answers = on_ranks(size, name, problems, backend);
    for (std::size_t k = 0; k < problems.size(); ++k) {
      INFO(name << " on " << size << " ranks: " << problems[k].first);
      for (const Answer& answer : answers[k]) {
        REQUIRE(same(one[k], answer.matching));
        if (one[k].status != Status::optimal) continue;
        CHECK(answer.certificate.fault == "");
        REQUIRE(answer.certificate.optimal());
        REQUIRE(answer.certificate.gap == 0);
        REQUIRE(answer.certificate.primal == one[k].objective);
      }
    }
  }
}

void check_ranks(const std::string& name, const std::string& what, const Costs& costs,
                 const std::vector<int>& sizes) {
  check_ranks(name, {{what, costs}}, sizes);
}

std::vector<Problem> generated(const std::vector<std::string>& texts) {
  std::vector<Problem> out;
  for (const std::string& text : texts) out.emplace_back(text, matching::generate_assignment({1}, text));
  return out;
}

template <class T>
Costs dense_of(const matching::SparseCosts& p) {
  constexpr T forbidden = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                               : std::numeric_limits<T>::max();
  const Index rows = p.graph.rows, cols = p.graph.cols;
  std::vector<T> entries(static_cast<std::size_t>(rows) * cols, forbidden);
  for (Index i = 0; i < rows; ++i)
    for (auto e = p.graph.row_offsets[i]; e < p.graph.row_offsets[i + 1]; ++e)
      entries[static_cast<std::size_t>(i) * cols + p.graph.col_index[e]] = static_cast<T>(p.cost[e]);
  return matching::DenseCosts{rows, cols, std::move(entries), 0, p.unmatched_row_cost, p.unmatched_col_cost};
}

/// The instance in every kind that can hold it.
std::vector<Problem> kinds_of(const testing::Instance& instance) {
  std::vector<Problem> out{{instance.name + ", sparse", instance.costs},
                           {instance.name + ", int64", dense_of<std::int64_t>(instance.costs)}};
  bool narrow = true;
  for (const Cost c : instance.costs.cost) narrow = narrow && c < (1 << 24) && c > -(1 << 24);
  if (!narrow) return out;
  out.emplace_back(instance.name + ", int32", dense_of<std::int32_t>(instance.costs));
  out.emplace_back(instance.name + ", float", dense_of<float>(instance.costs));
  return out;
}

}  // namespace

TEST_CASE("distributed: every family of small problems, as every kind of costs, on 1, 2, 3 and more ranks") {
  for (const char* name : kNames)
    for (std::uint64_t seed = 21; seed <= 21; ++seed) {
      for (const auto& instance : testing::small_instances(seed)) {
        const auto best = testing::brute_force(instance.costs.view());
        for (const auto& [what, costs] : kinds_of(instance)) check_ranks(name, what, costs, {1, 2, 3});
        INFO(name << ": " << instance.name);
        const Matching answer = on_ranks(5, name, instance.costs)[4].matching;
        if (best)
          REQUIRE(answer.objective == static_cast<double>(*best));
        else
          REQUIRE(answer.status == Status::infeasible);
      }
      for (const auto& instance : testing::geometric_instances(seed))
        check_ranks(name, instance.name, instance.costs, {2, 3});
    }
}

TEST_CASE("distributed: hundreds of rows, ties, rectangles, points, and costs that leave exits open") {
  for (const char* name : kNames) {
    for (const auto& instance : testing::large_instances(7))
      if (instance.costs.graph.rows <= 500)
        for (const auto& [what, costs] : kinds_of(instance)) check_ranks(name, what, costs, {2, 3});
    for (const char* text :
         {"gen:uniform?rows=401&high=40", "gen:uniform?rows=401&high=4010&type=float",
          "gen:uniform?rows=300&cols=200&high=300", "gen:uniform?rows=200&cols=301&high=3000&type=int64",
          "gen:uniform?rows=150&cols=160&high=1000&unmatched=100", "gen:uniform?rows=90&high=900&density=.2",
          "gen:points?n=300&sigma=.5", "gen:points?n=200&sigma=.3&gate=1.2&unmatched=1.2&sparse=1",
          "gen:points?n=100&sigma=1&dims=2&dense=1", "gen:low-rank?n=150&rank=3"})
      check_ranks(name, text, matching::generate_assignment({1}, text), {1, 2, 3});
  }
}

TEST_CASE("distributed: fewer rows or columns than ranks, and none at all") {
  for (const char* name : kNames)
    for (const auto& [rows, cols] :
         {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}, {1, 1}, {2, 2}, {1, 4}, {4, 1}, {3, 5}}) {
      const std::string text =
          "gen:uniform?high=5&rows=" + std::to_string(rows) + "&cols=" + std::to_string(cols);
      check_ranks(name, text, matching::generate_assignment({1}, text), {2, 3, 6});
    }
}

TEST_CASE("distributed: threads of a rank change nothing") {
  for (const char* name : kNames) {
    const Costs costs = matching::generate_assignment({1}, "gen:uniform?rows=700&high=2000");
    const auto one = on_ranks(2, name, costs), three = on_ranks(2, name, costs, Backend::cpu, 3);
    for (std::size_t k = 0; k < 2; ++k) CHECK(same(one[k].matching, three[k].matching));
  }
}

TEST_CASE("distributed: the certificate over ranks finds what is wrong, wherever it lies") {
  const Costs costs = matching::generate_assignment({1}, "gen:uniform?rows=9&cols=9&high=50&density=.7");
  const auto problem = view_of(costs);
  const Matching right = matching::find_solver("jv")->make()->solve({1}, problem);
  REQUIRE(right.status == Status::optimal);
  std::vector<Matching> wrong;
  for (Index k = 0; k < 9; ++k) {
    wrong.push_back(right);
    ++wrong.back().duals.u[k];
    wrong.push_back(right);
    --wrong.back().duals.v[k];
    wrong.push_back(right);
    wrong.back().col_to_row[wrong.back().row_to_col[k]] = -1;
    wrong.back().row_to_col[k] = -1;
    wrong.push_back(right);
    auto& swapped = wrong.back();
    const Index other = (k + 4) % 9;
    std::swap(swapped.row_to_col[k], swapped.row_to_col[other]);
    std::swap(swapped.col_to_row[swapped.row_to_col[k]], swapped.col_to_row[swapped.row_to_col[other]]);
  }
  wrong.push_back(right);
  wrong.back().duals.v.pop_back();
  wrong.push_back(right);
  wrong.back().row_to_col[3] = 9;
  for (const auto split : {matching::Split::rows, matching::Split::columns})
    for (const int size : {1, 2, 3})
      run_as_threads(size, [&](Communicator& ranks) {
        const auto distributed = matching::distribute(ranks, split, Costs(costs));
        const auto good = matching::verify_distributed(ranks, {1}, distributed, right);
        if (!good.optimal() || good.gap != 0) throw std::logic_error("a right answer is refused");
        for (const Matching& answer : wrong) {
          const auto here = matching::verify_distributed(ranks, {1}, distributed, answer);
          const auto whole = matching::verify({1}, problem, answer);
          if (here.fault != whole.fault || here.optimal() || here.gap != whole.gap ||
              here.matching_valid != whole.matching_valid || here.dual_feasible != whole.dual_feasible ||
              here.tight != whole.tight)
            throw std::logic_error("'" + here.fault + "', not '" + whole.fault + "'");
        }
      });
}

TEST_CASE("distributed: what is wrong with one rank's part is said on all") {
  const auto solve = [](const char* solver, const matching::Split split) {
    run_as_threads(3, [&](Communicator& ranks) {
      matching::DenseCosts costs{4, 4, std::vector<float>(16, 1), 0, {}, {}};
      std::get<std::vector<float>>(costs.entries)[13] = std::numeric_limits<float>::quiet_NaN();
      const auto distributed = matching::distribute(ranks, split, std::move(costs));
      matching::solve_distributed(ranks, {1}, solver, distributed);
    });
  };
  CHECK_THROWS_WITH(solve("hungarian", matching::Split::rows), Catch::Contains("rank 2: "));
  CHECK_THROWS_WITH(solve("hungarian", matching::Split::columns), Catch::Contains("split_of"));
  CHECK_THROWS_WITH(solve("auction", matching::Split::rows),
                    Catch::Contains("auction has no form for several ranks"));
}

// Few enough for compute-sanitizer, yet every kernel.
TEST_CASE("distributed on GPUs: a handful of tiny problems") {
  MOTES_NEED_GPU();
  const auto problems =
      generated({"gen:uniform?rows=57&high=300", "gen:uniform?rows=20&cols=45&high=30",
                 "gen:uniform?rows=45&cols=20&high=30&type=float", "gen:points?n=40&sigma=.7",
                 "gen:uniform?rows=30&cols=31&high=100&unmatched=20", "gen:uniform?rows=1&high=3"});
  for (const char* name : kNames) check_ranks(name, problems, gpu_ranks(), Backend::cuda);
}

TEST_CASE("distributed on GPUs: the CPU's bits, for every family of small problems and for larger ones") {
  MOTES_NEED_GPU();
  auto problems =
      generated({"gen:uniform?rows=401&high=40", "gen:uniform?rows=1401&high=14010",
                 "gen:uniform?rows=1402&high=140&type=float", "gen:uniform?rows=300&cols=200&high=300",
                 "gen:uniform?rows=200&cols=301&high=3000&type=int64", "gen:points?n=300&sigma=.5",
                 "gen:uniform?rows=150&cols=160&high=1000&unmatched=100", "gen:low-rank?n=150&rank=3"});
  for (const auto& instance : testing::small_instances(31))
    for (auto& problem : kinds_of(instance))
      if (!std::holds_alternative<matching::SparseCosts>(problem.second))
        problems.push_back(std::move(problem));
  for (const char* name : kNames) check_ranks(name, problems, gpu_ranks(), Backend::cuda);
}

TEST_CASE("distributed on GPUs: sparse costs are refused on every rank") {
  MOTES_NEED_GPU();
  const Costs costs =
      matching::generate_assignment({1}, "gen:points?n=30&sigma=.3&gate=2&sparse=1&unmatched=2");
  CHECK_THROWS_WITH(on_ranks(1, "hungarian", costs, Backend::cuda), Catch::Contains("sparse"));
}
