/// `jv` for points on one GPU.

#include "matching/assignment/core/point_core.cuh"
#include "matching/assignment/core/point_policy.cuh"

namespace motes::matching::device {

core::Outcome solve_by_point_cores(gpu::Arena& arena, const CanonicalSides& sides,
                                   const DeviceCanonical<GeometricEntries>& p, const Start& start) {
  points::PointPolicy policy(arena, p);
  return core::solve_in_place(arena, sides, p, start, policy);
}

}  // namespace motes::matching::device
