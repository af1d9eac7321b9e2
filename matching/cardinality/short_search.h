#pragma once
/// `pf-push-relabel`: depth-first searches within a budget, then push-relabel. `auto` uses it for graphs on
/// which everything before the first search would take longer than the searches.
///
/// Source of the searches: Pothen & Fan, ACM TOMS 16 (1990), with the fairness of Duff, Kaya & Ucar, ACM
/// TOMS 38 (2011); see papers/pothen_fan.h. The budget, and what follows it, are ours.

#include <motes/matching/cardinality_solver.h>

namespace motes::matching {

/// Each free row takes its first free column; then phases of searches follow, on one thread. They need only
/// the row side and a word for each row and column. Most real graphs are solved after each edge has been
/// scanned once. On others (lattices, gated particles, random graphs of low degree) the searches get into
/// each other's way, and each of the last rows would take a pass over the graph. So once the searches have
/// scanned 1.5 edges for each edge and row of the graph, the column side is computed, and push-relabel
/// continues from the matching so far. The worst case is that of push-relabel plus a bounded number of scans.
class ShortSearch final : public CardinalitySolver {
 private:
  bool needs_columns() const override { return false; }
  void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
           CardinalityStats& stats) const override;
};

}  // namespace motes::matching
