// An assignment problem, its optimum, and the proof that it is one.
#include <cstdint>
#include <iostream>
#include <vector>

#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

int main() {
  using namespace motes::matching;

  // Three workers (rows), four tasks (columns). Every worker gets a task; one task stays free at no cost.
  const std::vector<std::int32_t> costs = {4, 1, 3, 7,   //
                                           2, 0, 5, 3,   //
                                           3, 2, 2, 8};  //
  const std::vector<Cost> free_task(4, 0);
  DenseCostsView problem;
  problem.rows = 3;
  problem.cols = problem.row_stride = 4;
  problem.data = costs.data();
  problem.unmatched_col_cost = free_task;

  const AutoChoice choice = choose_solver(problem);
  const Matching answer = choice.info->make()->solve(motes::Execution{}, problem);
  const Certificate proof = verify(problem, answer);

  for (Index row = 0; row < problem.rows; ++row) {
    std::cout << "worker " << row << " does task " << answer.row_to_col[row] << '\n';
  }
  std::cout << "cost " << answer.objective << ", dual " << answer.dual_objective << ", solver "
            << choice.info->name << (proof.optimal() ? ": proven optimal\n" : ": " + proof.fault + '\n');
  return proof.optimal() && answer.objective == 5 ? 0 : 1;
}
