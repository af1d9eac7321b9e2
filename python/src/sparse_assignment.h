#pragma once
/// Assignment of all rows of a sparse matrix of doubles in one thread, with little work besides one pass over
/// the entries: no grid, no components, no transpose.
///
/// Source: Jonker & Volgenant, Computing 38 (1987), for sparse matrices: each column's price starts at its
/// cheapest entry; a free row takes its cheapest column, whose price falls by nearly the difference to the
/// row's second cheapest column; displaced rows try again later; the remaining rows search by Dijkstra's
/// algorithm. Prices are rounded; optimality.h proves or corrects the answer.
///
/// Rows are visited in random order, so the state of each column is kept small, and the entries of the next
/// rows are prefetched.

#include <cstdint>
#include <utility>
#include <vector>

#include "python/src/double_assignment.h"

namespace motes::python {

class SparseAssignment {
 public:
  /// `problem`: fewer than 2^32 entries. `largest`: largest magnitude of the costs. `exact`: costs are
  /// integers whose sums do not round, and so are all prices.
  SparseAssignment(const SparseDoubles& problem, double largest, bool exact);
  /// False if no assignment of all rows exists.
  bool solve();
  /// After solve. Prices of free columns are 0.
  PricedMatching answer() &&;

 private:
  struct Reached {
    double distance = 0;
    Index from = -1;          ///< the row that reached it
    std::uint32_t stamp = 0;  ///< 2 * search, plus 1 once settled
  };
  void reduce_columns();
  bool take_cheapest(Index row);
  void fetch(Index row) const;
  bool search(Index source);
  void scan(Index row, double base);
  void augment(Index source, Index end);

  const SparseDoubles& problem_;
  double fall_;  ///< of a price, as a share of the difference to the row's second cheapest column
  const Offset* offsets_;
  const Index* col_;
  const double* cost_;
  std::vector<double> price_;        ///< [cols]
  std::vector<Index> owner_;         ///< [cols] row of the column; -1: free
  std::vector<std::uint32_t> held_;  ///< [rows] entry of the row's pair, if it has one
  std::vector<Index> displaced_, left_;

  std::vector<Reached> reached_;
  std::vector<std::pair<double, Index>> heap_;
  std::vector<Index> settled_;
  std::uint32_t stamp_ = 0;
  double end_distance_ = kNone;
  Index end_ = -1;
};

}  // namespace motes::python
