/// `cheap`: every row takes its first free column.

#include <motes/base/index.h>

#include "matching/cardinality/bfs_reordering.h"
#include "matching/init/starts.h"

namespace motes::matching {

std::vector<Index> start_cheap(const Execution& execution, const CardinalityProblem& problem,
                               std::uint64_t seed) {
  const auto& graph = problem.graph;
  const detail::VisitOrder order(graph.rows, seed);
  std::vector<Index> row_to_col(at(graph.rows), -1), col_to_row(at(graph.cols), -1);
  if (const int threads = detail::threads_for(execution, graph.rows); threads > 1)
    detail::match_free_rows<true>(graph, threads, order, order.natural() && !detail::scattered(graph),
                                  row_to_col, col_to_row);
  else
    detail::match_free_rows<false>(graph, 1, order, false, row_to_col, col_to_row);
  return row_to_col;
}

}  // namespace motes::matching
