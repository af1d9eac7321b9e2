#pragma once
/// `p-dbfs`: one breadth-first search for each free row, many at a time, on disjoint sets of columns.
///
/// Source: Azad, Halappanavar, Rajamanickam, Boman, Khan & Pothen, "Multithreaded algorithms for maximum
/// matching in bipartite graphs", IPDPS 2012.

#include <motes/matching/cardinality_solver.h>

namespace motes::matching {

/// A search ends at its first free column; columns that it has visited are not visited by other searches of
/// the phase. A phase without a path ends it. O(rows * nnz).
class PDbfs final : public CardinalitySolver {
 private:
  bool needs_columns() const override { return false; }
  void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
           CardinalityStats& stats) const override;
};

}  // namespace motes::matching
