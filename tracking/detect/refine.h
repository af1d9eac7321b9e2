#pragma once
/// Sub-voxel position, height and width of a maximum.

#include "tracking/detect/maxima.h"

namespace motes::tracking::detect {

struct Peak {
  double z = 0, y = 0, x = 0;  ///< voxels
  double quality = 0;          ///< response there: from that of the voxel to twice it
  double radius_um = 0;        ///< geometric mean over the axes of more than one voxel
};

/// Fits a quadratic to the 27 responses around a maximum. O(1).
Peak refine(const Response& response, const Filter& filter, const Vec3& voxel_um, const Voxel& maximum);

}  // namespace motes::tracking::detect
