#pragma once
/// The pairs of points within a gate, found by the cells of a grid.

#include "matching/assignment/canonical/entries.h"
#include "matching/points/cell_grid.h"

namespace motes::matching::detail {

inline CellGrid::Place row_place(const GeometricEntries& e, Index i) {
  return {e.row_x[i], e.row_y[i], e.row_z == nullptr ? 0 : e.row_z[i]};
}
inline CellGrid::Place col_place(const GeometricEntries& e, Index j) {
  return {e.col_x[j], e.col_y[j], e.col_z == nullptr ? 0 : e.col_z[j]};
}

/// A squared distance that no pair within the gate exceeds; the entries decide on pairs up to it.
inline double farthest_of(const GeometricEntries& e) { return e.gate * e.gate * (1 + 0x1p-40); }

/// Calls visit(j, cost) for the allowed pairs of row i, in no order. `grid`: of the columns.
template <class Visit>
void for_each_within_gate(const GeometricEntries& e, const CellGrid& grid, Index i, const Visit& visit) {
  const double farthest = farthest_of(e);
  const auto from = row_place(e, i);
  grid.for_each_shell(
      from,
      [&](Index c) {
        for (auto [place, end] = grid.cell(c); place < end; ++place) {
          if (grid.squared_to(from, place) > farthest) continue;
          const Index j = grid.point_at(place);
          if (const Cost cost = e.at(i, j); cost != kInfiniteCost) visit(j, cost);
        }
      },
      [&](double outside) { return outside <= farthest; });
}

}  // namespace motes::matching::detail
