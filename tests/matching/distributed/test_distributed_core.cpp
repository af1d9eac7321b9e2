// jv over several ranks, here threads: the objective of one rank, proven over all pairs, however the matrix
// is distributed, and if the core is too small, does not help, or may not be gathered.

#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/gpu/device.h>
#include <motes/matching/distributed.h>
#include <motes/matching/instances.h>
#include <motes/matching/registry.h>

#include "matching/distributed/solve_by_core.h"
#include "tests/matching/gpu_ranks.h"
#include "tests/support/instances.h"
#include "tests/support/skip.h"

using namespace motes;
using matching::Cost;
using matching::Costs;
using matching::Index;
using matching::Matching;
using matching::Status;
using matching::detail::DistributedCoreSettings;
using testing::gpu_ranks;

namespace {

struct Answer {
  Matching matching;
  matching::Certificate certificate;
};

/// The answers of each of `size` ranks to each of the problems. All problems are solved by the same ranks,
/// since connecting their GPUs takes a second.
std::vector<std::vector<Answer>> on_ranks(int size, const std::vector<Costs>& problems,
                                          const DistributedCoreSettings& settings = {}, int threads = 1,
                                          Backend backend = Backend::cpu) {
  std::vector<std::vector<Answer>> answers(problems.size(),
                                           std::vector<Answer>(static_cast<std::size_t>(size)));
  run_as_threads(size, [&](Communicator& ranks) {
    Execution execution;
    execution.threads = threads;
    execution.backend = backend;
    for (std::size_t k = 0; k < problems.size(); ++k) {
      const auto split = matching::split_of("jv", view_of(problems[k]));
      const auto distributed = matching::distribute(ranks, split, Costs(problems[k]));
      Answer& answer = answers[k][static_cast<std::size_t>(ranks.rank())];
      answer.matching = matching::detail::solve_by_core(ranks, execution, distributed, settings);
      if (answer.matching.status == Status::optimal)
        answer.certificate = matching::verify_distributed(ranks, execution, distributed, answer.matching);
    }
  });
  return answers;
}

std::vector<Answer> on_ranks(int size, const Costs& costs, const DistributedCoreSettings& settings = {},
                             int threads = 1, Backend backend = Backend::cpu) {
  return on_ranks(size, std::vector<Costs>{costs}, settings, threads, backend)[0];
}

bool same_answer(const Matching& a, const Matching& b) {
  return a.status == b.status && a.row_to_col == b.row_to_col && a.col_to_row == b.col_to_row &&
         a.objective == b.objective && a.duals.u == b.duals.u && a.duals.v == b.duals.v &&
         a.stats.phases == b.stats.phases && a.stats.augmentations == b.stats.augmentations;
}

/// The objective `best` (none: infeasible) on every rank, the same answer on all, proven.
void check(const std::vector<Answer>& answers, std::optional<double> best) {
  for (const Answer& answer : answers) {
    REQUIRE(same_answer(answer.matching, answers[0].matching));
    if (!best) {
      REQUIRE(answer.matching.status == Status::infeasible);
      continue;
    }
    REQUIRE(answer.matching.status == Status::optimal);
    CHECK(answer.certificate.fault == "");
    REQUIRE(answer.certificate.optimal());
    REQUIRE(answer.certificate.gap == 0);
    REQUIRE(answer.matching.objective == *best);
    REQUIRE(answer.certificate.primal == *best);
  }
}

std::optional<double> best_of(const Costs& costs) {
  const Matching one = matching::find_solver("jv")->make()->solve({1}, view_of(costs));
  return one.status == Status::optimal ? std::optional(one.objective) : std::nullopt;
}

void check_texts(const std::vector<std::string>& texts, const std::vector<int>& sizes,
                 const DistributedCoreSettings& settings = {}, Backend backend = Backend::cpu) {
  std::vector<Costs> problems;
  std::vector<std::optional<double>> best;
  for (const std::string& text : texts) {
    problems.push_back(matching::generate_assignment({1}, text));
    best.push_back(best_of(problems.back()));
  }
  for (const int size : sizes) {
    const auto answers = on_ranks(size, problems, settings, 1, backend);
    for (std::size_t k = 0; k < texts.size(); ++k) {
      INFO(texts[k] << " on " << size << " ranks");
      check(answers[k], best[k]);
    }
  }
}

void check_text(const std::string& text, const std::vector<int>& sizes,
                const DistributedCoreSettings& settings = {}) {
  check_texts({text}, sizes, settings);
}

template <class T>
Costs matrix_of(const matching::SparseCosts& p) {
  constexpr T forbidden = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                               : std::numeric_limits<T>::max();
  const Index rows = p.graph.rows, cols = p.graph.cols;
  std::vector<T> entries(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols), forbidden);
  for (Index i = 0; i < rows; ++i)
    for (auto e = p.graph.row_offsets[i]; e < p.graph.row_offsets[i + 1]; ++e)
      entries[static_cast<std::size_t>(i) * cols + p.graph.col_index[e]] = static_cast<T>(p.cost[e]);
  return matching::DenseCosts{rows, cols, std::move(entries), 0, p.unmatched_row_cost, p.unmatched_col_cost};
}

std::vector<Costs> matrices_of(const matching::SparseCosts& costs) {
  std::vector<Costs> out{matrix_of<std::int64_t>(costs)};
  for (const Cost c : costs.cost)
    if (c >= (1 << 24) || c <= -(1 << 24)) return out;
  out.push_back(matrix_of<std::int32_t>(costs));
  out.push_back(matrix_of<float>(costs));
  out.push_back(matrix_of<double>(costs));
  return out;
}

/// Forces a core of that many pairs per row on matrices of any size, even if it saves no time.
DistributedCoreSettings tiny_core(matching::Offset of_rows, Index of_columns,
                                  matching::Offset most_gathered) {
  return {0, most_gathered, {of_rows, of_columns}};
}

/// With a core and without one, complete and not.
std::vector<std::string> point_texts() {
  return {"gen:points?n=700&sigma=.3",
          "gen:points?n=1500&sigma=1",
          "gen:points?n=1201&sigma=.7&dims=2&metric=squared",
          "gen:points?n=900&sigma=.5&gate=1.2&unmatched=.8",
          "gen:points?n=900&sigma=.5&gate=9&unmatched=.8",
          "gen:points?n=900&sigma=.1&gate=6",
          "gen:points?n=700&sigma=.4&gate=.3",
          "gen:points?n=40&sigma=1",
          "gen:points?n=1&sigma=1"};
}

/// More rows than columns, many at one place, some far away.
Costs uneven_points() {
  auto out = std::get<matching::GeometricCosts>(
      matching::generate_assignment({1}, "gen:points?n=1100&sigma=.4&unmatched=.7"));
  for (auto* axis : {&out.col_points.x, &out.col_points.y, &out.col_points.z}) {
    axis->resize(800);
    for (std::size_t k = 0; k < 200; ++k) (*axis)[k] = 3;
  }
  for (std::size_t k = 0; k < 20; ++k) out.row_points.x[k] += 15;
  out.unmatched_col_cost.resize(800);
  out.unmatched_row_cost.assign(1100, 0);
  out.unmatched_col_cost.assign(800, matching::kInfiniteCost);
  return out;
}

}  // namespace

TEST_CASE("distributed core: every family of small problems is solved as brute force has it") {
  constexpr matching::Offset kAny = std::numeric_limits<matching::Offset>::max();
  const DistributedCoreSettings settings[] = {
      tiny_core(1, 1, kAny), tiny_core(2, 0, kAny), tiny_core(3, 2, 0), {}};
  for (std::uint64_t seed = 41; seed <= 42; ++seed)
    for (const auto& instance : testing::small_instances(seed)) {
      const auto found = testing::brute_force(instance.costs.view());
      const auto best = found ? std::optional(static_cast<double>(*found)) : std::nullopt;
      for (const Costs& costs : matrices_of(instance.costs))
        for (std::size_t k = 0; k < 4; ++k)
          for (const int size : {1, 2, 3}) {
            INFO(instance.name << ", entries " << std::get<matching::DenseCosts>(costs).entries.index()
                               << ", settings " << k << ", " << size << " ranks");
            check(on_ranks(size, costs, settings[k]), best);
          }
    }
}

TEST_CASE("distributed core: matrices large enough for a core, of every number type and shape") {
  for (const char* text :
       {"gen:uniform?rows=700&high=70", "gen:uniform?rows=701&high=70100&type=float",
        "gen:uniform?rows=650&high=6500&type=int64", "gen:uniform?rows=600&high=1000000&type=double",
        "gen:uniform?rows=300&cols=900&high=3000", "gen:uniform?rows=900&cols=300&high=3000&type=float",
        "gen:uniform?rows=600&cols=640&high=1000&unmatched=40", "gen:uniform?rows=600&high=900&density=.02",
        "gen:uniform?rows=600&high=900&density=.003", "gen:uniform?rows=520&high=900&density=.02&type=float",
        "gen:uniform?rows=600&high=0", "gen:points?n=600&sigma=.7&dense=1",
        "gen:points?n=600&sigma=1&gate=1.5&dense=1&type=float"})
    check_text(text, {2, 3});
}

TEST_CASE("distributed core: structured matrices, whatever prices the core was chosen by") {
  for (const char* family :
       {"machol-wien?", "low-rank?", "low-rank?rank=2&", "sums?", "sums?noise=0&", "clusters?clusters=3&",
        "line?", "valued?", "valued?values=2&share=.02&", "banded?blocks=1&width=4&forbidden=.3&",
        "heavy?law=power&spread=3&", "sorted?", "progression?range=100&type=double&"})
    check_text(std::string("gen:") + family + "n=600", {2, 3});
}

TEST_CASE("distributed core: where cheap pairs mislead, ranks anneal prices together") {
  const Costs costs = matching::generate_assignment({1}, "gen:lattice?n=1024");
  const Matching one = matching::find_solver("jv")->make()->solve({1}, view_of(costs));
  for (const int size : {1, 2, 3}) {
    const auto answers = on_ranks(size, costs);
    check(answers, one.objective);
    CHECK(answers[0].matching.stats.seconds.contains("annealing"));
  }
}

TEST_CASE("distributed core: one rank has jv's bits, and threads change none") {
  for (const char* text :
       {"gen:uniform?rows=1100&high=11000&type=float", "gen:sums?n=700", "gen:lattice?n=576",
        "gen:uniform?rows=600&cols=700&high=500", "gen:uniform?rows=200&high=500"}) {
    INFO(text);
    const Costs costs = matching::generate_assignment({1}, text);
    const Matching one = matching::find_solver("jv")->make()->solve({1}, view_of(costs));
    CHECK(same_answer(on_ranks(1, costs)[0].matching, one));
    const auto few = on_ranks(3, costs), many = on_ranks(3, costs, {}, 3);
    CHECK(same_answer(few[1].matching, many[2].matching));
  }
}

TEST_CASE("distributed core: ranks make their own rows of a generated matrix") {
  for (const char* text :
       {"gen:uniform?rows=53&high=500", "gen:uniform?rows=20&cols=31&high=9&type=float&seed=3",
        "gen:uniform?rows=31&cols=20&high=9&type=int64", "gen:uniform?rows=31&cols=20&high=9&unmatched=4",
        "gen:uniform?rows=30&high=70&density=.4&type=double", "gen:points?n=41&sigma=.4&dense=1",
        "gen:points?n=41&sigma=.4&gate=1&dense=1&type=float&unmatched=.5", "gen:sums?n=17"})
    for (const char* solver : {"jv", "hungarian", "hungarian-tree"})
      run_as_threads(3, [&](Communicator& ranks) {
        const auto made = matching::distribute_generated(ranks, {1}, solver, text);
        Costs whole = matching::generate_assignment({1}, text);
        const auto split = matching::split_of(solver, view_of(whole));
        const auto cut = matching::distribute(ranks, split, std::move(whole));
        const auto &a = std::get<matching::DenseCosts>(made.part),
                   &b = std::get<matching::DenseCosts>(cut.part);
        if (made.rows != cut.rows || made.cols != cut.cols || made.split != cut.split ||
            made.mine.first != cut.mine.first || made.mine.count != cut.mine.count || a.rows != b.rows ||
            a.cols != b.cols || a.entries != b.entries || a.fraction_bits != b.fraction_bits ||
            made.unmatched_row_cost != cut.unmatched_row_cost ||
            made.unmatched_col_cost != cut.unmatched_col_cost)
          throw std::logic_error(std::string(text) + " for " + solver);
      });
}

TEST_CASE("distributed core: fewer rows than ranks, and none at all") {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}, {1, 1}, {2, 2}, {1, 4}, {4, 1}, {3, 5}}) {
    const std::string text =
        "gen:uniform?high=5&rows=" + std::to_string(rows) + "&cols=" + std::to_string(cols);
    check_text(text, {2, 3, 6});
    check_text(text, {2, 6}, tiny_core(1, 1, 1000));
  }
}

TEST_CASE("distributed core: a faulty entry of one rank ends all, and other costs are refused") {
  for (const Index rows : {40, 600})
    CHECK_THROWS_WITH(
        run_as_threads(3,
                       [&](Communicator& ranks) {
                         const auto size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(rows);
                         matching::DenseCosts costs{rows, rows, std::vector<float>(size, 1), 0, {}, {}};
                         std::get<std::vector<float>>(costs.entries)[size - 2] =
                             std::numeric_limits<float>::quiet_NaN();
                         const auto distributed =
                             matching::distribute(ranks, matching::Split::rows, std::move(costs));
                         matching::solve_distributed(ranks, {1}, "jv", distributed);
                       }),
        Catch::Contains("rank 2: cost of pair"));
  const Costs graph = matching::generate_assignment({1}, "gen:points?n=50&sigma=.3&gate=1&sparse=1");
  CHECK_THROWS_WITH(matching::split_of("jv", view_of(graph)), Catch::Contains("full matrices"));
  CHECK_THROWS_WITH(run_as_threads(2,
                                   [&](Communicator& ranks) {
                                     const auto distributed =
                                         matching::distribute(ranks, matching::Split::rows, Costs(graph));
                                     matching::solve_distributed(ranks, {1}, "jv", distributed);
                                   }),
                    Catch::Contains("full matrices"));
  for (const Backend backend : {Backend::cpu, Backend::cuda}) {
    if (backend == Backend::cuda && gpu::list_devices().devices.empty()) continue;
    auto points = std::get<matching::GeometricCosts>(matching::generate_assignment({1}, point_texts()[0]));
    points.col_points.y[7] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(on_ranks(1, Costs(points), {}, 1, backend), Catch::Contains("not finite"));
  }
}

TEST_CASE("distributed core: points, with and without gates, of any shape") {
  check_texts(point_texts(), {1, 2, 3});
  check_texts({"gen:points?n=900&sigma=.5"}, {3}, tiny_core(2, 1, 0));
  for (const int size : {2, 3}) {
    const auto answers = on_ranks(size, uneven_points(), tiny_core(3, 1, 0));
    check(answers, best_of(uneven_points()));
  }
}

TEST_CASE("distributed core: every family of small problems of points is solved as brute force has it") {
  for (const auto& instance : testing::geometric_instances(44))
    for (const auto& settings : {tiny_core(1, 1, 0), tiny_core(2, 0, 0), DistributedCoreSettings{}})
      for (const int size : {1, 3}) {
        INFO(instance.name << " on " << size << " ranks");
        check(on_ranks(size, instance.costs, settings), best_of(instance.costs));
      }
}

// Few enough for compute-sanitizer, yet every kernel.
TEST_CASE("for the memory and race checkers: a core over several GPUs") {
  MOTES_NEED_GPU();
  check_texts({"gen:uniform?rows=57&high=300", "gen:points?n=70&sigma=1&dense=1&type=float",
               "gen:points?n=400&sigma=.7", "gen:uniform?rows=30&cols=31&high=100&unmatched=20"},
              gpu_ranks(), {}, Backend::cuda);
}

TEST_CASE("distributed core on GPUs: every family of small problems is solved as brute force has it") {
  MOTES_NEED_GPU();
  std::vector<Costs> problems;
  std::vector<std::string> names;
  std::vector<std::optional<double>> best;
  for (const auto& instance : testing::small_instances(43)) {
    const auto found = testing::brute_force(instance.costs.view());
    for (Costs& costs : matrices_of(instance.costs)) {
      problems.push_back(std::move(costs));
      names.push_back(instance.name);
      best.push_back(found ? std::optional(static_cast<double>(*found)) : std::nullopt);
    }
  }
  for (const int size : gpu_ranks()) {
    const auto answers = on_ranks(size, problems, {}, 1, Backend::cuda);
    for (std::size_t k = 0; k < problems.size(); ++k) {
      INFO(names[k] << ", entries " << std::get<matching::DenseCosts>(problems[k]).entries.index() << ", "
                    << size << " GPUs");
      check(answers[k], best[k]);
    }
  }
}

TEST_CASE("distributed core on GPUs: large and structured matrices") {
  MOTES_NEED_GPU();
  check_texts(
      {"gen:uniform?rows=5001&high=5001", "gen:uniform?rows=4500&high=450000&type=float",
       "gen:uniform?rows=700&high=70&type=int64", "gen:uniform?rows=600&high=1000000&type=double",
       "gen:uniform?rows=300&cols=900&high=3000", "gen:uniform?rows=900&cols=300&high=3000&type=float",
       "gen:uniform?rows=600&cols=640&high=1000&unmatched=40", "gen:uniform?rows=600&high=900&density=.02",
       "gen:uniform?rows=600&high=900&density=.003", "gen:uniform?rows=600&high=0",
       "gen:points?n=2000&sigma=1&dense=1&type=float", "gen:low-rank?n=600", "gen:sums?n=600",
       "gen:line?n=600", "gen:valued?n=600", "gen:heavy?law=power&spread=3&n=600", "gen:machol-wien?n=600"},
      gpu_ranks(), {}, Backend::cuda);
}

TEST_CASE("distributed core on GPUs: points, with and without gates, of any shape") {
  MOTES_NEED_GPU();
  check_texts(point_texts(), gpu_ranks(), {}, Backend::cuda);
  check_texts({"gen:points?n=70000&sigma=.3", "gen:points?n=20001&sigma=1&metric=squared"}, gpu_ranks(), {},
              Backend::cuda);
  for (const int size : gpu_ranks())
    check(on_ranks(size, uneven_points(), {}, 1, Backend::cuda), best_of(uneven_points()));
  for (const auto& instance : testing::geometric_instances(45)) {
    INFO(instance.name);
    check(on_ranks(gpu_ranks().back(), instance.costs, {}, 1, Backend::cuda), best_of(instance.costs));
  }
}

TEST_CASE("distributed core on GPUs: the certificate of points finds a wrong dual on whichever rank it is") {
  MOTES_NEED_GPU();
  const int size = gpu_ranks().back();
  run_as_threads(size, [&](Communicator& ranks) {
    Execution execution;
    execution.backend = Backend::cuda;
    Costs costs = matching::generate_assignment({1}, "gen:points?n=3000&sigma=.5");
    const auto distributed = matching::distribute(ranks, matching::Split::rows, std::move(costs));
    const Matching answer = matching::solve_distributed(ranks, execution, "jv", distributed);
    for (const Index row : {0, 1400, 2999}) {
      Matching wrong = answer;
      wrong.duals.u[static_cast<std::size_t>(row)] += 1;
      const auto certificate = matching::verify_distributed(ranks, execution, distributed, wrong);
      if (certificate.optimal() ||
          certificate.fault.find("(" + std::to_string(row) + ", ") == std::string::npos)
        throw std::logic_error("not found: row " + std::to_string(row) + ": " + certificate.fault);
    }
    if (!matching::verify_distributed(ranks, execution, distributed, answer).optimal())
      throw std::logic_error("the answer is refused");
  });
}

TEST_CASE("distributed core on GPUs: a faulty entry of one rank ends all") {
  MOTES_NEED_GPU();
  const int size = gpu_ranks().back();
  CHECK_THROWS_WITH(run_as_threads(size,
                                   [&](Communicator& ranks) {
                                     matching::DenseCosts costs{40, 40, std::vector<float>(1600, 1),
                                                                0,  {}, {}};
                                     std::get<std::vector<float>>(costs.entries)[1598] =
                                         std::numeric_limits<float>::quiet_NaN();
                                     const auto distributed =
                                         matching::distribute(ranks, matching::Split::rows, std::move(costs));
                                     Execution execution;
                                     execution.backend = Backend::cuda;
                                     matching::solve_distributed(ranks, execution, "jv", distributed);
                                   }),
                    Catch::Contains("cost of pair"));
}
