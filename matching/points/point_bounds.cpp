/// Bounding boxes of points, and bounds of distances between them.

#include "matching/points/point_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace motes::matching::detail {
namespace {

PointBounds bounds_of(const double* x, const double* y, const double* z, Index count) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  PointBounds out{{kNone, kNone, kNone}, {-kNone, -kNone, -kNone}, true};
  const double* axes[3] = {x, y, z};
  for (int axis = 0; axis < 3; ++axis) {
    for (Index i = 0; i < count; ++i) {
      const double value = axes[axis] == nullptr ? 0 : axes[axis][i];
      out.finite = out.finite && std::abs(value) < 1e300;
      out.low[axis] = std::min(out.low[axis], value);
      out.high[axis] = std::max(out.high[axis], value);
    }
  }
  return out;
}

}  // namespace

PairOfBounds bounds_of(const GeometricEntries& e) {
  return {bounds_of(e.row_x, e.row_y, e.row_z, e.rows), bounds_of(e.col_x, e.col_y, e.col_z, e.cols)};
}

Cost farthest_cost(const GeometricEntries& e, const PairOfBounds& bounds) {
  if (e.rows == 0 || e.cols == 0) return 0;
  double squared = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double gap =
        std::max(bounds.row.high[axis] - bounds.col.low[axis], bounds.col.high[axis] - bounds.row.low[axis]);
    squared += gap * gap;
  }
  const double distance = std::min(std::sqrt(squared), e.gate) * (1 + 0x1p-40);
  const double cost = (e.metric == Metric::squared ? distance * distance : distance) * e.scale + 1;
  return cost < 0x1p62 ? static_cast<Cost>(cost) : kInfiniteCost;
}

}  // namespace motes::matching::detail
