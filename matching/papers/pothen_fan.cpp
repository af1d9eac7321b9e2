/// Depth-first searches with lookahead, by several threads.

#include "matching/papers/pothen_fan.h"

#include <motes/base/index.h>

#include "matching/cardinality/augmenting_search.h"

namespace motes::matching {

using namespace detail;

void PothenFan::run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                    CardinalityStats& stats) const {
  const Timed timed(stats, "dfs");
  std::vector<Lane> lanes(at(execution.threads));
  Stamps marks(graph.cols, execution.threads);
  std::vector<Offset> ahead(graph.row_offsets, graph.row_offsets + graph.rows);  // [rows] lookahead so far
  std::vector<Index> free = free_rows(graph, mates);
  bool backwards = false;

  // A row is on one path at a time (augment_by_dfs), so `ahead` has one writer. A free column that another
  // thread wins first is matched in this phase, so it may be skipped.
  const auto take = [&](Step& step, Lane& lane) -> Index {
    const Offset begin = graph.row_offsets[step.row], end = graph.row_offsets[step.row + 1];
    Offset& next_ahead = ahead[at(step.row)];
    while (next_ahead < end) {
      const Index j = graph.col_index[next_ahead++];
      ++lane.edges;
      if (peek(mates.col_to_row[at(j)]) == -1 && marks.win(j)) return j;
    }
    while (step.next < end) {
      const Offset e = step.next++;
      const Index j = graph.col_index[backwards ? begin + (end - 1 - e) : e];
      ++lane.edges;
      if (marks.win(j)) return j;
    }
    return -1;
  };

  // Why no path in a phase means that there is none: every search failed, so all columns of every row it
  // reached were seen by some search that failed too; together they saw all that free rows can reach.
  for (std::int64_t paths = 1; paths > 0 && !free.empty();) {
    ++stats.phases;
    marks.new_round();
    over_parts(lanes, std::ssize(free), 8, [&](Lane& lane, auto first, auto last) {
      for (auto k = first; k < last; ++k)
        augment_by_dfs(graph, mates, free[static_cast<std::size_t>(k)], lane,
                       [&](Step& step) { return take(step, lane); });
    });
    paths = count_in(lanes, stats);
    stats.augmented.push_back(paths);
    drop_matched(mates, free);
    backwards = fairness_ && !backwards;
  }
}

}  // namespace motes::matching
