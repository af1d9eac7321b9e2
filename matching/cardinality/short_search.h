#pragma once
/// `pf-push-relabel`: depth-first searches within a budget, then push-relabel. `auto` uses it for graphs on
/// which everything before the first search would take longer than the searches.
///
/// Source of the searches: Pothen & Fan, ACM TOMS 16 (1990), with the fairness of Duff, Kaya & Ucar, ACM
/// TOMS 38 (2011); see papers/pothen_fan.h. The budget, and what follows it, are ours.

#include <motes/matching/cardinality_solver.h>

namespace motes::matching {

/// Each free row takes its first free column; then phases of searches in one thread. They need the rows'
/// side alone and no memory but a word for each row and column. Most real graphs are done after a look at
/// each edge. On the others (lattices, gated particles, low random degrees) the searches run into each other,
/// and the last rows would take a pass over the graph each: once the searches have looked at kBudget times
/// the edges, the columns' side is made and the rest is push-relabel's, from the matching where it is. So the
/// worst case is push-relabel's, and a bounded number of looks.
class ShortSearch final : public CardinalitySolver {
 private:
  bool needs_columns() const override { return false; }
  void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
           CardinalityStats& stats) const override;
};

}  // namespace motes::matching
