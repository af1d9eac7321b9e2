/// Repulsion between neighbours, which are found by a grid of cells.

#include "sim/motion/repulsion.h"

#include <cmath>

#include "sim/motion/point_grid.h"

namespace motes::sim::detail {

namespace {

/// The points, followed by their images within reach of the box.
struct WithImages {
  std::vector<Vec3> points;
  std::vector<std::size_t> owner;  ///< index of the point itself, or of the point whose image it is
};

WithImages with_images(const std::vector<Vec3>& points, double reach, const std::optional<Vec3>& period) {
  WithImages out{points, {}};
  for (std::size_t i = 0; i < points.size(); ++i) out.owner.push_back(i);
  if (!period) return out;
  const auto near = [&](double at, double length) { return at > -reach && at < length + reach; };
  for (std::size_t i = 0; i < points.size(); ++i)
    for (int z = -1; z <= 1; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) {
          const Vec3 image{points[i].x + x * period->x, points[i].y + y * period->y,
                           points[i].z + z * period->z};
          if ((x == 0 && y == 0 && z == 0) || !near(image.x, period->x) || !near(image.y, period->y) ||
              !near(image.z, period->z))
            continue;
          out.points.push_back(image);
          out.owner.push_back(i);
        }
  return out;
}

}  // namespace

std::vector<Vec3> overlap_pushes(const Execution& execution, const std::vector<Vec3>& points, double reach,
                                 const std::optional<Vec3>& period) {
  std::vector<Vec3> pushes(points.size());
  if (points.empty()) return pushes;
  const WithImages all = with_images(points, reach, period);
  const PointGrid grid(all.points, reach);
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (std::size_t i = 0; i < points.size(); ++i) {
    Vec3 push;
    grid.around(points[i], [&](std::size_t k) {
      const std::size_t j = all.owner[k];
      if (i == j) return;
      const Vec3 arm = points[i] - all.points[k];
      const double distance2 = dot(arm, arm);
      if (distance2 >= reach * reach) return;
      const double distance = std::sqrt(distance2);
      const double overlap = 0.5 * (reach - distance);
      // Two points at one place separate along x, with the earlier one to the left.
      push = distance > 0 ? push + overlap / distance * arm : push + Vec3{i < j ? -overlap : overlap, 0, 0};
    });
    pushes[i] = push;
  }
  return pushes;
}

}  // namespace motes::sim::detail
