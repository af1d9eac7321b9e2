#include "tracking/link/pairs/greedy_links.h"

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <motes/base/index.h>
#include <motes/matching/matching_weight.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify_greedy.h>

namespace motes::tracking {
namespace {

using matching::Cost;
using matching::Index;
using matching::Offset;

/// The pairs with a positive gain over two free ends; the gain is their weight.
matching::WeightedGraph gains_of(const matching::SparseCostsView& problem) {
  matching::WeightedGraph out;
  out.kind = matching::GraphKind::bipartite;
  out.graph.rows = problem.graph.rows;
  out.graph.cols = problem.graph.cols;
  std::vector<std::int64_t> gains;
  for (Index i = 0; i < problem.graph.rows; ++i) {
    for (Offset e = problem.graph.row_offsets[at(i)]; e < problem.graph.row_offsets[at(i) + 1]; ++e) {
      const Index j = problem.graph.col_index[at(e)];
      const Cost gain =
          problem.unmatched_row_cost[at(i)] + problem.unmatched_col_cost[at(j)] - problem.cost[at(e)];
      if (gain <= 0) continue;
      out.graph.col_index.push_back(j);
      gains.push_back(gain);
    }
    out.graph.row_offsets.push_back(out.graph.edges());
  }
  out.weights = std::move(gains);
  return out;
}

}  // namespace

matching::Matching greedy_matching(const Execution& execution, const matching::SparseCostsView& problem) {
  if (problem.space == matching::Space::device ||
      problem.unmatched_row_cost.size() != at(problem.graph.rows) ||
      problem.unmatched_col_cost.size() != at(problem.graph.cols))
    throw std::invalid_argument(
        "greedy links: the problem must be in host memory, and all vertices may stay free");
  const matching::WeightedGraph graph = gains_of(problem);
  Execution on_cpu = execution;
  on_cpu.backend = Backend::cpu;
  const auto* solver = matching::choose_greedy_solver(graph.view()).info;
  matching::GreedyAnswer answer = matching::make_greedy_solver(solver->name)->solve(on_cpu, graph.view());
  matching::Matching out = std::move(answer.matching);
  const auto sum = [](std::span<const Cost> costs) {
    return std::accumulate(costs.begin(), costs.end(), 0.0,
                           [](double total, Cost cost) { return total + static_cast<double>(cost); });
  };
  const double all_free = sum(problem.unmatched_row_cost) + sum(problem.unmatched_col_cost);
  const double gain = out.objective;
  out.objective = all_free - gain;
  out.dual_objective = all_free - 2 * gain;
  out.gap = out.objective - out.dual_objective;
  out.stats.seconds = std::move(answer.stats.seconds);
  return out;
}

void check_nearest_first(const matching::SparseCostsView& problem, const matching::Matching& links) {
  const matching::WeightedGraph graph = gains_of(problem);
  matching::Matching weighed = links;
  weighed.objective = matching::weight_of_pairs(graph.view(), links.row_to_col, 1);
  const auto certificate = matching::verify(graph.view(), weighed);
  if (!certificate.dominant)
    throw std::logic_error("the links are not those of nearest-first linking: " + certificate.fault);
}

}  // namespace motes::tracking
