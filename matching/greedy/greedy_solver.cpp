/// GreedySolver::solve: checks, the choice of CPU or GPU, and the weight of the matching.

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <motes/base/host_blocks.h>
#include <motes/base/timer.h>
#include <motes/matching/greedy_solver.h>
#include <motes/matching/matching_weight.h>

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching {
namespace {

/// The number of threads: at most the caller's, and fewer for small problems.
int threads_for(const Execution& execution, const GreedyProblem& problem) {
  constexpr std::int64_t kVerticesWorthAThread = 2048;
  return static_cast<int>(
      std::min<std::int64_t>(thread_count(execution), 1 + problem.vertices() / kVerticesWorthAThread));
}

}  // namespace

GreedyAnswer GreedySolver::solve(const Execution& given, const GreedyProblem& problem) const {
  const HostBlocks::Solve kept(given.workspace);
  Execution execution = given;
  execution.threads = threads_for(given, problem);
  GreedyAnswer answer;
  const auto check_begin = std::chrono::steady_clock::now();
  check_problem(problem, execution.threads);
  answer.stats.seconds["check"] = seconds_since(check_begin);
  const auto match_begin = std::chrono::steady_clock::now();
  if (given.backend == Backend::cuda) {
    run_on_device(execution, problem, answer);
  } else {
    if (problem.space == Space::device)
      throw std::invalid_argument("a graph in device memory needs the cuda back end");
    run(execution, problem, answer);
  }
  answer.stats.seconds["match"] = seconds_since(match_begin);
  Matching& matching = answer.matching;
  matching.status = Status::heuristic;
  const auto matched = std::ssize(matching.row_to_col) -
                       std::count(matching.row_to_col.begin(), matching.row_to_col.end(), Index{-1});
  matching.cardinality = problem.kind == GraphKind::general ? matched / 2 : matched;
  if (problem.space == Space::host)
    matching.objective = weight_of_pairs(problem, matching.row_to_col, execution.threads);
  matching.stats.rounds = answer.stats.rounds;
  matching.stats.assignments = answer.stats.matched;
  matching.stats.seconds = answer.stats.seconds;
  return answer;
}

void GreedySolver::run_on_device(const Execution&, const GreedyProblem&, GreedyAnswer&) const {
  throw ResourceError("this solver has no CUDA form; use the cpu back end");
}

}  // namespace motes::matching
