#include "tracking/score/assign.h"

#include <algorithm>
#include <cmath>

#include <motes/matching/registry.h>
#include <motes/matching/transportation.h>

namespace motes::tracking::detail {
namespace {

constexpr int kCostBits = 50;

/// A step size that is a power of two, for which the largest cost is at most 2^kCostBits steps.
double cost_unit(const RealCosts& problem) {
  double largest = problem.unmatched_col_cost;
  for (const double c : problem.cost) largest = std::max(largest, c);
  for (const double c : problem.unmatched_row_cost) largest = std::max(largest, c);
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) + 1 - kCostBits) : 1.0;
}

matching::SparseCosts in_steps(const RealCosts& problem) {
  const double unit = cost_unit(problem);
  const auto steps = [unit](double cost) { return static_cast<matching::Cost>(std::llround(cost / unit)); };
  matching::SparseCosts costs;
  costs.graph = problem.graph;
  costs.cost.reserve(problem.cost.size());
  for (const double c : problem.cost) costs.cost.push_back(steps(c) - 1);
  for (const double c : problem.unmatched_row_cost) costs.unmatched_row_cost.push_back(steps(c));
  costs.unmatched_col_cost.assign(static_cast<std::size_t>(problem.graph.cols),
                                  steps(problem.unmatched_col_cost));
  return costs;
}

}  // namespace

std::vector<matching::Index> assign(const Execution& execution, const RealCosts& problem) {
  return matching::find_solver("jv")->make()->solve(execution, in_steps(problem).view()).row_to_col;
}

std::vector<matching::Index> assign_copies(const RealCosts& problem,
                                           std::span<const matching::Index> row_copies,
                                           std::span<const matching::Index> col_copies) {
  const matching::SparseCosts costs = in_steps(problem);
  return matching::solve_transportation({costs.view(), row_copies, col_copies}).flow;
}

}  // namespace motes::tracking::detail
