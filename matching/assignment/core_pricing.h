#pragma once
/// Pairs outside a core that its duals do not prove: the other half of core_paths.h.

#include <memory>
#include <vector>

#include "matching/assignment/core_selection.h"
#include "matching/detail/cell_grid.h"

namespace motes::matching::detail {

/// Proves rows without a look at them: a pair outside the core costs more than its row's bound, and more than
/// its column's where there is one.
class BoundProof {
 public:
  BoundProof(const CoreSelection& selection, const std::vector<Cost>& v);
  /// c_ij >= u + v_j for all pairs of row i outside the core. O(log cols).
  bool proves(Index i, Cost u) const;

 private:
  const CoreSelection& selection_;
  std::vector<Cost> highest_;  ///< v, falling; the highest alone where columns have no bounds
  std::vector<Cost> least_;    ///< [cols] least of col_bound_j + 1 - v_j among that many highest
};

/// What a thread of pricing needs.
struct PricingScratch {
  std::vector<Index> hit;
  std::vector<double> keys;
};

/// Finds the pairs of a row with c_ij < u + v_j: in a matrix by a scan in its own number type, among points
/// by cells with the highest dual of each.
template <class Entries>
class RowPricer;

template <class T>
class RowPricer<DenseEntries<T>> {
 public:
  explicit RowPricer(const DenseEntries<T>& entries) : entries_(entries) {}
  void set_duals(const std::vector<Cost>& v);
  /// In no order. O(cols).
  void find(Index i, Cost u, PricingScratch& scratch, std::vector<CorePair>& found) const;

 private:
  const DenseEntries<T>& entries_;
  const std::vector<Cost>* v_ = nullptr;
  std::vector<double> scaled_;  ///< [cols] v in the entries' unit; empty where that is not exact
};

template <>
class RowPricer<GeometricEntries> {
 public:
  explicit RowPricer(const GeometricEntries& entries);
  void set_duals(const std::vector<Cost>& v);
  /// In no order. O(cells as near as u + the highest dual).
  void find(Index i, Cost u, PricingScratch& scratch, std::vector<CorePair>& found) const;

 private:
  const GeometricEntries& entries_;
  const std::vector<Cost>* v_ = nullptr;
  CellGrid grid_;
  std::vector<Cost> highest_in_;  ///< [cells]
  Cost highest_ = 0;
};

}  // namespace motes::matching::detail
