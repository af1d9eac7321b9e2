#pragma once
/// Greedy problems of both kinds as neighbour lists of all vertices, and the conversion of mates back to
/// rows and columns.

#include <chrono>
#include <vector>

#include <motes/base/timer.h>
#include <motes/matching/greedy_solver.h>

namespace motes::matching::detail {

/// The problem itself if it is general; else it is converted to a general one in `room`, and
/// stats.seconds["lists"] is the time of that.
inline GreedyProblem with_all_lists(const Execution& execution, const GreedyProblem& problem,
                                    WeightedGraph& room, GreedyStats& stats) {
  if (problem.kind == GraphKind::general) return problem;
  const auto begin = std::chrono::steady_clock::now();
  room = to_general(problem, execution.threads);
  stats.seconds["lists"] = seconds_since(begin);
  return room.view();
}

/// `mate` [vertices of the general form], -1 = free, as the answer to the problem.
inline void set_mates(const GreedyProblem& problem, std::vector<Index> mate, Matching& matching) {
  if (problem.kind == GraphKind::bipartite) {
    const Index rows = problem.graph.rows;
    matching.col_to_row.assign(mate.begin() + rows, mate.end());
    mate.resize(static_cast<std::size_t>(rows));
    for (Index& j : mate)
      if (j != -1) j -= rows;
  }
  matching.row_to_col = std::move(mate);
}

}  // namespace motes::matching::detail
