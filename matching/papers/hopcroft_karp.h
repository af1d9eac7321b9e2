#pragma once
/// `hk` and `hkdw`: shortest augmenting paths, many at a time.
///
/// Source: Hopcroft & Karp, "An n^5/2 algorithm for maximum matchings in bipartite graphs", SIAM J. Comput. 2
/// (1973); Duff & Wiberg, "Remarks on implementation of O(n^1/2 tau) assignment algorithms", ACM TOMS 14
/// (1988); parallel form: Azad, Halappanavar, Rajamanickam, Boman, Khan & Pothen, "Multithreaded algorithms
/// for maximum matching in bipartite graphs", IPDPS 2012.

#include <motes/matching/cardinality_solver.h>

namespace motes::matching {

/// A phase is a breadth-first search from all free rows, which ends with the first level that reaches a free
/// column, and depth-first searches down its levels for a maximal set of disjoint shortest paths. O(sqrt(rows
/// + cols) * nnz). `hkdw` then searches from the rows that are still free without regard to levels. Threads
/// share the levels, and take free rows one after another for the depth-first searches.
class HopcroftKarp final : public CardinalitySolver {
 public:
  explicit HopcroftKarp(bool duff_wiberg) : duff_wiberg_(duff_wiberg) {}

 private:
  bool needs_columns() const override { return false; }
  void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
           CardinalityStats& stats) const override;
  bool duff_wiberg_;
};

}  // namespace motes::matching
