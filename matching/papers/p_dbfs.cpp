/// Disjoint breadth-first searches by several threads.

#include "matching/papers/p_dbfs.h"

#include <motes/base/index.h>

#include "matching/cardinality/augmenting_search.h"

namespace motes::matching {

using namespace detail;

void PDbfs::run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                CardinalityStats& stats) const {
  const Timed timed(stats, "bfs");
  std::vector<Lane> lanes(at(execution.threads));
  Stamps marks(graph.cols, execution.threads);
  std::vector<Index> parent(at(graph.cols), -1);  // written by the thread that won the column
  std::vector<Index> free = free_rows(graph, mates);

  // A column's mate is read after it was won: no other thread changes it in this phase. Trees are disjoint,
  // so that a path is flipped at once, while other threads search.
  const auto search = [&](Index root, Lane& lane) {
    lane.queue.assign(1, root);
    for (std::size_t head = 0; head < lane.queue.size(); ++head) {
      const Index row = lane.queue[head];
      for (const Index j : graph.cols_of(row)) {
        ++lane.edges;
        if (!marks.win(j)) continue;
        parent[at(j)] = row;
        const Index mate = peek(mates.col_to_row[at(j)]);
        if (mate == -1) return flip_back(mates, parent, j, lane);
        lane.queue.push_back(mate);
      }
    }
  };

  for (std::int64_t paths = 1; paths > 0 && !free.empty();) {
    ++stats.phases;
    marks.new_round();
    over_parts(lanes, std::ssize(free), 8, [&](Lane& lane, auto first, auto last) {
      for (auto k = first; k < last; ++k) search(free[static_cast<std::size_t>(k)], lane);
    });
    paths = count_in(lanes, stats);
    stats.augmented.push_back(paths);
    drop_matched(mates, free);
  }
}

}  // namespace motes::matching
