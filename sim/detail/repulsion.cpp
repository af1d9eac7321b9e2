#include "sim/detail/repulsion.h"

#include <cmath>

#include "sim/detail/point_grid.h"

namespace motes::sim::detail {

std::vector<Vec3> overlap_pushes(const Execution& execution, const std::vector<Vec3>& points, double reach) {
  std::vector<Vec3> pushes(points.size());
  if (points.empty()) return pushes;
  const PointGrid grid(points, reach);
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (std::size_t i = 0; i < points.size(); ++i) {
    Vec3 push;
    grid.around(points[i], [&](std::size_t j) {
      if (i == j) return;
      const Vec3 arm = added(points[i], points[j], -1);
      const double distance2 = dot(arm, arm);
      if (distance2 >= reach * reach) return;
      const double distance = std::sqrt(distance2);
      const double overlap = 0.5 * (reach - distance);
      // Two at one place part along x, the earlier one to the left.
      push = distance > 0 ? added(push, arm, overlap / distance)
                          : added(push, Vec3{i < j ? -overlap : overlap, 0, 0});
    });
    pushes[i] = push;
  }
  return pushes;
}

}  // namespace motes::sim::detail
