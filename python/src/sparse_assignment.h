#pragma once
/// Assignment of all rows of a sparse matrix of doubles in one thread, without anything that costs more than
/// a look at each entry: no grid, no components, no other side.
///
/// Source: Jonker & Volgenant, Computing 38 (1987), for sparse matrices: a free row takes its cheapest
/// column, whose price falls to the row's second cheapest offer, and the row displaced goes next; rows left
/// search by Dijkstra's algorithm. Prices round; whether the answer is the optimum is for optimality.h to
/// prove.

#include <cstdint>
#include <utility>
#include <vector>

#include "python/src/double_assignment.h"

namespace motes::python {

class SparseAssignment {
 public:
  explicit SparseAssignment(const SparseDoubles& problem);
  /// False where no assignment of all rows exists.
  bool solve();
  /// Prices are 0 of free columns.
  PricedMatching answer() const;

 private:
  /// What a search asks of a column, in one place: it waits for memory once.
  struct alignas(32) Column {
    double v = 0, distance = 0;
    Index owner = -1;         ///< its row
    Index from = -1;          ///< the row it was reached from
    std::uint32_t stamp = 0;  ///< 2 * search, and 1 more once settled
  };
  bool take_cheapest(Index row);
  bool search(Index source);
  void scan(Index row, double base);
  void augment(Index source, Index end);

  const SparseDoubles& problem_;
  const Offset* offsets_;
  const Index* col_;
  const double* cost_;
  std::vector<Column> columns_;
  std::vector<Offset> held_;  ///< [rows] entry of the pair, -1: none
  std::vector<Index> left_;
  std::int64_t budget_ = 0;

  std::vector<std::pair<double, Index>> heap_;
  std::vector<Index> settled_;
  std::uint32_t stamp_ = 0;
  double end_distance_ = kNone;
  Index end_ = -1;
};

}  // namespace motes::python
