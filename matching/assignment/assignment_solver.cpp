/// AssignmentSolver::solve: the checks common to all assignment solvers.

#include <stdexcept>
#include <string>

#include <motes/matching/assignment_solver.h>
#include <motes/matching/ties.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/device_problem.h"

namespace motes::matching {
namespace {

void check_start(const CostsView& problem, const Start& start) {
  const auto rows = static_cast<std::size_t>(rows_of(problem)),
             cols = static_cast<std::size_t>(cols_of(problem));
  if ((!start.row_to_col.empty() && start.row_to_col.size() != rows) ||
      (!start.u.empty() && start.u.size() != rows) || (!start.v.empty() && start.v.size() != cols))
    throw std::invalid_argument("start: wrong number of rows or columns");
  std::vector<bool> taken(start.row_to_col.empty() ? 0 : cols, false);
  for (std::size_t i = 0; i < start.row_to_col.size(); ++i) {
    const Index j = start.row_to_col[i];
    if (j == -1) continue;
    if (j < 0 || static_cast<std::size_t>(j) >= cols || taken[static_cast<std::size_t>(j)])
      throw std::invalid_argument("start: row " + std::to_string(i) +
                                  " is matched outside the columns, or to one that is taken");
    taken[static_cast<std::size_t>(j)] = true;
  }
}

}  // namespace

bool AssignmentSolver::checks_entries(const Execution&, const CostsView&) const { return false; }

void AssignmentSolver::check(const Execution& execution, const CostsView& problem) const {
  // A matrix in device memory is read once on the device, for its faults and for its largest cost
  // (canonical_form.cuh).
  const bool later = execution.backend == Backend::cuda && space_of(problem) == Space::device &&
                     std::holds_alternative<DenseCostsView>(problem);
  if (later || checks_entries(execution, problem))
    check_form(problem, thread_count(execution));
  else
    detail::check_problem_with(execution, problem);
}

Matching AssignmentSolver::solve(const Execution& execution, const CostsView& problem,
                                 const Start& start) const {
  check(execution, problem);
  check_start(problem, start);
  return run(execution, problem, start);
}

Matching AssignmentSolver::run_for_partners(const Execution& execution, const CostsView& problem) const {
  Matching answer = run(execution, problem, {});
  if (answer.status == Status::optimal) answer = resolve_ties(execution, problem, std::move(answer));
  answer.col_to_row = {};
  answer.duals = {};
  return answer;
}

Matching AssignmentSolver::solve_for_partners(const Execution& execution, const CostsView& problem) const {
  check(execution, problem);
  return run_for_partners(execution, problem);
}

}  // namespace motes::matching
