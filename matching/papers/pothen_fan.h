#pragma once
/// `pf`: depth-first searches with lookahead from all free rows, phase by phase.
///
/// Source: Pothen & Fan, "Computing the block triangular form of a sparse matrix", ACM TOMS 16 (1990);
/// fairness: Duff, Kaya & Ucar, "Design, implementation, and analysis of maximum transversal algorithms", ACM
/// TOMS 38 (2011); parallel form (P-PFP): Azad et al., IPDPS 2012.

#include <motes/matching/cardinality_solver.h>

namespace motes::matching {

/// In a phase each free row searches among the columns that no other search of the phase has seen; a row
/// first looks for a free column among all of its own (lookahead, one pass over each row's columns in the
/// whole run: columns never become free again). With fairness every second phase goes through the columns
/// backwards, so that long detours are not repeated. A phase without a path ends it. O(rows * nnz).
class PothenFan final : public CardinalitySolver {
 public:
  explicit PothenFan(bool fairness) : fairness_(fairness) {}

 private:
  bool needs_columns() const override { return false; }
  void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
           CardinalityStats& stats) const override;
  bool fairness_;
};

}  // namespace motes::matching
