#pragma once
/// Assignment of all rows of a sparse matrix of doubles in one thread, without anything that costs more than
/// a look at each entry: no grid, no components, no other side.
///
/// Source: Jonker & Volgenant, Computing 38 (1987), for sparse matrices: each column's price begins as its
/// cheapest entry; a free row takes its cheapest column, whose price falls nearly to the row's second
/// cheapest offer, and rows displaced try again later; rows left search by Dijkstra's algorithm. Prices
/// round; whether the answer is the optimum is for optimality.h to prove.
///
/// Rows are visited in no order that a memory would like. What is asked of every column is therefore kept
/// small, and the entries of rows that come soon are fetched ahead.

#include <cstdint>
#include <utility>
#include <vector>

#include "python/src/double_assignment.h"

namespace motes::python {

class SparseAssignment {
 public:
  /// Of fewer than 2^32 entries. `largest`: magnitude of the costs. `exact`: they are integers whose sums do
  /// not round, and so are all prices.
  SparseAssignment(const SparseDoubles& problem, double largest, bool exact);
  /// False where no assignment of all rows exists.
  bool solve();
  /// Prices are 0 of free columns.
  PricedMatching answer() &&;

 private:
  struct Reached {
    double distance = 0;
    Index from = -1;          ///< the row it was reached from
    std::uint32_t stamp = 0;  ///< 2 * search, and 1 more once settled
  };
  void reduce_columns();
  bool take_cheapest(Index row);
  void fetch(Index row) const;
  bool search(Index source);
  void scan(Index row, double base);
  void augment(Index source, Index end);

  const SparseDoubles& problem_;
  double fall_;  ///< of a price, as a share of the way to the row's second cheapest offer
  const Offset* offsets_;
  const Index* col_;
  const double* cost_;
  std::vector<double> price_;        ///< [cols]
  std::vector<Index> owner_;         ///< [cols] its row, -1: none
  std::vector<std::uint32_t> held_;  ///< [rows] entry of the pair; of rows that have one
  std::vector<Index> displaced_, left_;

  std::vector<Reached> reached_;
  std::vector<std::pair<double, Index>> heap_;
  std::vector<Index> settled_;
  std::uint32_t stamp_ = 0;
  double end_distance_ = kNone;
  Index end_ = -1;
};

}  // namespace motes::python
