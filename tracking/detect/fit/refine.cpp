#include "tracking/detect/fit/refine.h"

namespace motes::tracking::detect {

Peak refine(const Response& response, const Filter& filter, const Voxel& maximum) {
  return rules::refine(response.view(), filter.view(), maximum.z, maximum.y, maximum.x);
}

Peak correct_bias(const Response& response, const Filter& filter, const Peak& peak) {
  return rules::correct_bias(response.view(), filter.view(), peak);
}

double fitted_radius_um(const Response& response, const Filter& filter, const Vec3& voxel_um,
                        const Peak& peak) {
  return rules::fitted_radius_um(response.view(), filter.view(), {voxel_um.x, voxel_um.y, voxel_um.z}, peak);
}

}  // namespace motes::tracking::detect
