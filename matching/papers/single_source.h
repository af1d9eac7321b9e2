#pragma once
/// `ss-bfs` and `ss-dfs`: one search for each free row, one after another.
///
/// Source: Azad, Buluc & Pothen, "A parallel tree grafting algorithm for maximum cardinality matching in
/// bipartite graphs", IPDPS 2015, Algorithm 1; Duff, Kaya & Ucar, ACM TOMS 38 (2011).

#include <motes/matching/cardinality_solver.h>

namespace motes::matching {

enum class Order { breadth_first, depth_first };

/// A row whose search fails stays free for good, and no later search needs its tree, whose columns are
/// hidden. O(rows * nnz). Always on one thread.
class SingleSource final : public CardinalitySolver {
 public:
  explicit SingleSource(Order order) : order_(order) {}

 private:
  bool needs_columns() const override { return false; }
  void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
           CardinalityStats& stats) const override;
  Order order_;
};

}  // namespace motes::matching
