#pragma once
/// Renumbering of points so that neighbours in space are neighbours in memory.

#include <vector>

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching::detail {

/// A problem over points with both sides ordered along cells of a grid. Solvers of point sets access
/// neighbours all the time; in random order each access is a cache miss if the arrays do not fit the cache.
/// O(rows + cols) memory and time. The given problem must outlive it; it owns the memory of its own views.
class OrderedPoints {
 public:
  OrderedPoints(const Canonical<GeometricEntries>& problem, const Start& start);
  OrderedPoints(const OrderedPoints&) = delete;
  OrderedPoints& operator=(const OrderedPoints&) = delete;

  const Canonical<GeometricEntries>& problem() const { return ordered_; }
  const Start& start() const { return start_; }
  /// Renumbers a solution of the ordered problem to the given one.
  Solution restored(Solution&& solution) const;

 private:
  std::vector<Index> row_, col_;           ///< the given problem's number of the point at each position
  std::vector<double> coordinates_[2][3];  ///< of rows, of columns
  std::vector<Cost> exits_, start_u_, start_v_;
  std::vector<Index> start_pairs_;
  Canonical<GeometricEntries> ordered_;
  Start start_;
};

}  // namespace motes::matching::detail
