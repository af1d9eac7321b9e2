#pragma once
/// Points sorted into the cells of a uniform grid. Neighbours of a position are found in shells of cells
/// around it.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching::detail {

/// O(points) memory; cells have about `per_cell` points if points are spread evenly. Squared distances are
/// computed as in GeometricEntries, and bounds on them hold to the last bit: they come from coordinates of
/// points, not of cell walls, and rounding is monotone.
class CellGrid {
 public:
  struct Place {
    double x, y, z;
  };
  struct Found {
    double squared;
    Index point;
  };

  /// z may be nullptr. The arrays are read only by this constructor.
  CellGrid(const double* x, const double* y, const double* z, Index count, double per_cell);

  Index cells() const { return static_cast<Index>(begin_.size()) - 1; }
  Index size() const { return static_cast<Index>(id_.size()); }
  /// The points of a cell: places in the grid's order, [first, last).
  std::pair<Index, Index> cell(Index c) const {
    return {begin_[static_cast<std::size_t>(c)], begin_[static_cast<std::size_t>(c) + 1]};
  }
  Index point_at(Index place) const { return id_[static_cast<std::size_t>(place)]; }
  double squared_to(const Place& from, Index place) const {
    const auto p = static_cast<std::size_t>(place);
    const double dx = from.x - coordinate_[0][p], dy = from.y - coordinate_[1][p],
                 dz = from.z - coordinate_[2][p];
    return (dx * dx + dy * dy) + dz * dz;
  }

  /// Calls visit(cell) for the cells around a place, shell by shell; after each shell, calls go_on(squared),
  /// where all points of unvisited cells are at least this far away (infinity if none is left). Ends if go_on
  /// returns false, or after all cells.
  template <class Visit, class GoOn>
  void for_each_shell(const Place& from, Visit&& visit, GoOn&& go_on) const;

  /// The `wanted` nearest points that lie within `farthest` (squared), in no order, ties by the least
  /// (point - first) modulo the number of points. True: these are all within `farthest`.
  bool nearest(const Place& from, Index wanted, double farthest, Index first, std::vector<Found>& out) const;

 private:
  Index cell_of(int axis, double x) const {
    const double place = (x - low_[axis]) * inverse_width_;
    return place <= 0 ? 0 : std::min(cells_along_[axis] - 1, static_cast<Index>(std::min(place, 1e9)));
  }
  double outside(const Place& from, const Index (&low)[3], const Index (&high)[3]) const;

  Index cells_along_[3] = {1, 1, 1};
  double low_[3] = {0, 0, 0};
  double inverse_width_ = 0;
  std::vector<Index> begin_, id_;
  std::vector<double> coordinate_[3];  ///< [points] in the grid's order
  /// [cells along the axis] the largest coordinate of points up to this layer, the least from it on.
  std::vector<double> up_to_[3], from_[3];
};

template <class Visit, class GoOn>
void CellGrid::for_each_shell(const Place& from, Visit&& visit, GoOn&& go_on) const {
  const Index centre[3] = {cell_of(0, from.x), cell_of(1, from.y), cell_of(2, from.z)};
  for (Index r = 0;; ++r) {
    Index low[3], high[3];
    bool whole = true;
    for (int a = 0; a < 3; ++a) {
      low[a] = std::max(0, centre[a] - r);
      high[a] = std::min(cells_along_[a] - 1, centre[a] + r);
      whole = whole && low[a] == 0 && high[a] == cells_along_[a] - 1;
    }
    for (Index cz = low[2]; cz <= high[2]; ++cz) {
      for (Index cy = low[1]; cy <= high[1]; ++cy) {
        const Index line = (cz * cells_along_[1] + cy) * cells_along_[0];
        const bool face = std::max(std::abs(cz - centre[2]), std::abs(cy - centre[1])) == r;
        if (face) {
          for (Index cx = low[0]; cx <= high[0]; ++cx) visit(line + cx);
        } else {
          if (centre[0] - r >= 0) visit(line + centre[0] - r);
          if (centre[0] + r < cells_along_[0]) visit(line + centre[0] + r);
        }
      }
    }
    if (whole || !go_on(outside(from, low, high))) break;
  }
  // go_on is not called after the last shell
}

}  // namespace motes::matching::detail
