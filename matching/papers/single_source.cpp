/// Breadth-first and depth-first search from one free row at a time.

#include "matching/papers/single_source.h"

#include <motes/base/index.h>

#include "matching/cardinality/augmenting_search.h"

namespace motes::matching {
namespace {

using namespace detail;

class Searches {
 public:
  Searches(const TwoSidedGraph& graph, Mates& mates)
      : graph_(graph), mates_(mates), seen_(at(graph.cols), 0), parent_(at(graph.cols), -1) {}

  void run(Order order, CardinalityStats& stats) {
    for (const Index root : free_rows(graph_, mates_)) {
      ++stats.phases;
      tree_.clear();
      if (order == Order::breadth_first ? breadth_first(root) : depth_first(root)) {
        for (const Index j : tree_) seen_[at(j)] = 0;  // else the tree stays hidden
      }
    }
    count_in(lanes_, stats);
  }

 private:
  bool see(Index col) {
    if (seen_[at(col)] != 0) return false;
    seen_[at(col)] = 1;
    tree_.push_back(col);
    return true;
  }

  bool breadth_first(Index root) {
    Lane& lane = lanes_[0];
    lane.queue.assign(1, root);
    for (std::size_t head = 0; head < lane.queue.size(); ++head) {
      const Index row = lane.queue[head];
      for (const Index j : graph_.cols_of(row)) {
        ++lane.edges;
        if (!see(j)) continue;
        parent_[at(j)] = row;
        const Index mate = mates_.col_to_row[at(j)];
        if (mate == -1) {
          flip_back(mates_, parent_, j, lane);
          return true;
        }
        lane.queue.push_back(mate);
      }
    }
    return false;
  }

  bool depth_first(Index root) {
    Lane& lane = lanes_[0];
    return augment_by_dfs(graph_, mates_, root, lane, [&](Step& step) -> Index {
      for (const Offset end = graph_.row_offsets[step.row + 1]; step.next < end;) {
        const Index j = graph_.col_index[step.next++];
        ++lane.edges;
        if (see(j)) return j;
      }
      return -1;
    });
  }

  const TwoSidedGraph& graph_;
  Mates& mates_;
  std::vector<Lane> lanes_{1};
  std::vector<char> seen_;  ///< [cols] by this search, or in a tree that failed
  std::vector<Index> tree_, parent_;
};

}  // namespace

void SingleSource::run(const Execution&, const TwoSidedGraph& graph, Mates& mates,
                       CardinalityStats& stats) const {
  const Timed timed(stats, order_ == Order::breadth_first ? "bfs" : "dfs");
  Searches(graph, mates).run(order_, stats);
}

}  // namespace motes::matching
