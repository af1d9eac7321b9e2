/// `greedy`: the matching of greedy-suitor with weights that decrease with the degrees of an edge's ends,
/// so that vertices with few neighbours are matched first. This resembles min-degree, but with the degrees
/// of the original graph; in return the matching is the same for any number of threads.

#include <motes/base/index.h>

#include "matching/greedy/suitor/suitor.h"
#include "matching/init/starts.h"

namespace motes::matching {

std::vector<Index> start_greedy(const Execution& execution, const CardinalityProblem& problem,
                                std::uint64_t seed) {
  const auto& graph = problem.graph;
  std::vector<Offset> col_degree(at(graph.cols), 0);
  if (problem.col_offsets.empty())
    for (const Index j : graph.col_index) ++col_degree[at(j)];
  else
    for (Index j = 0; j < graph.cols; ++j)
      col_degree[at(j)] = problem.col_offsets[at(j) + 1] - problem.col_offsets[at(j)];
  // Weights are integers that a float represents; a seed other than 0 orders edges of equal degrees at
  // random.
  constexpr Offset kMost = 1 << 20, kDraws = 16;
  std::vector<float> weights(graph.col_index.size());
  const detail::VisitOrder drawn(kDraws, seed);
  const int threads = detail::threads_for(execution, graph.rows);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (Index i = 0; i < graph.rows; ++i) {
    const Offset begin = graph.row_offsets[at(i)], end = graph.row_offsets[at(i) + 1];
    for (Offset e = begin; e < end; ++e) {
      const Index j = graph.col_index[at(e)];
      const Offset degrees = std::min(end - begin + col_degree[at(j)], kMost);
      const Index draw = seed == 0 ? 0 : drawn(static_cast<Index>((i ^ j) % kDraws));
      weights[at(e)] = static_cast<float>((kMost - degrees) * kDraws + draw);
    }
  }
  const GreedyProblem greedy{GraphKind::bipartite, graph, std::span<const float>(weights), Space::host};
  Execution on_host = execution;
  on_host.backend = Backend::cpu;
  return Suitor().solve(on_host, greedy).matching.row_to_col;
}

}  // namespace motes::matching
