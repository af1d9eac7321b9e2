#pragma once
/// What the two searches of the Hungarian solvers on the CPU share: their start, and the augmentation of
/// paths.

#include <utility>
#include <vector>

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching::detail {

/// The roots of the first search: rows without a column that may not leave yet.
inline std::vector<Index> first_roots(const CanonicalSides& problem, const StartState& state) {
  std::vector<Index> roots;
  for (Index i = 0; i < problem.rows; ++i)
    if (state.row_to_col[static_cast<std::size_t>(i)] == -1 &&
        state.u[static_cast<std::size_t>(i)] != problem.exit_of(i))
      roots.push_back(i);
  return roots;
}

/// The root of a row's tree; pred [cols] is the row that a column was reached from.
inline Index root_of(const StartState& state, const std::vector<Index>& pred, Index row) {
  const auto col_of = [&](Index i) { return state.row_to_col[static_cast<std::size_t>(i)]; };
  for (Index col = col_of(row); col != -1; col = col_of(row)) row = pred[static_cast<std::size_t>(col)];
  return row;
}

/// Flips the path that ends in `col`, back to its root; -1: there is nothing to flip.
inline void flip_path(StartState& state, const std::vector<Index>& pred, Index col) {
  while (col != -1) {
    const Index row = pred[static_cast<std::size_t>(col)];
    state.col_to_row[static_cast<std::size_t>(col)] = row;
    std::swap(state.row_to_col[static_cast<std::size_t>(row)], col);
  }
}

}  // namespace motes::matching::detail
