#pragma once
/// Pricing: finds the pairs outside a core that violate its duals; the other half of core_solver.h.

#include <span>
#include <vector>

#include "matching/assignment/core/selection.h"
#include "matching/points/cell_grid.h"

namespace motes::matching::detail {

/// The pairs outside the core that the bounds do not prove: those of row i with the columns of highest v_j -
/// level_j.
class BoundProof {
 public:
  BoundProof(const CoreSelection& selection, const std::vector<Cost>& v);
  /// The columns that must be checked for row i: for all others, c_ij >= u + v_j is proven outside the core.
  /// O(log cols).
  std::span<const Index> open(Index i, Cost u) const;

 private:
  const CoreSelection& selection_;
  std::vector<Index> order_;  ///< [cols] by falling v_j - level_j
  std::vector<Cost> rise_;    ///< [cols] the differences v_j - level_j
};

/// Scratch memory of one thread of pricing.
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
  /// Only among these columns. O(columns).
  void find_among(std::span<const Index> columns, Index i, Cost u, std::vector<CorePair>& found) const;
  /// Whether looking at these columns one by one takes less time than scanning the row.
  bool are_few(std::span<const Index> columns) const {
    return Offset{kFew} * std::ssize(columns) < entries_.cols;
  }

 private:
  static constexpr Index kFew = 20;
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
  void find_among(std::span<const Index> columns, Index i, Cost u, std::vector<CorePair>& found) const;
  bool are_few(std::span<const Index> columns) const { return std::ssize(columns) < kFew; }

 private:
  static constexpr Index kFew = 100;
  const GeometricEntries& entries_;
  const std::vector<Cost>* v_ = nullptr;
  CellGrid grid_;
  std::vector<Cost> highest_in_;  ///< [cells]
  Cost highest_ = 0;
};

}  // namespace motes::matching::detail
