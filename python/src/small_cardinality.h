#pragma once
/// Maximum cardinality matching of graphs so small that the choice of a solver takes as long as the solution.
///
/// Source: Pothen & Fan, ACM Transactions on Mathematical Software 16 (1990): in each phase every free row
/// starts a depth-first search along columns that no other search of the phase has visited; a row looks for a
/// free column among its neighbours before the search goes deeper.

#include <cstdint>
#include <span>
#include <vector>

#include <motes/base/index.h>

namespace motes::python {

/// Memory is reused from call to call.
class SmallCardinality {
 public:
  /// False if the arrays are not a valid graph. offsets: [rows + 1]. O(vertices * edges).
  template <class OffsetType>
  bool solve(Index rows, Index cols, std::span<const OffsetType> offsets, std::span<const Index> col_index);

  std::vector<Index> row_to_col, col_to_row;  ///< -1: free

 private:
  template <class OffsetType>
  bool search(Index row, const OffsetType* offsets, const Index* col);

  std::vector<std::int64_t> ahead_, next_;  ///< [rows] entry at which the row's search continues
  std::vector<std::int32_t> seen_;          ///< [cols] phase of the last visit
  std::vector<Index> stack_, free_;
  std::int32_t phase_ = 0;
};

}  // namespace motes::python
