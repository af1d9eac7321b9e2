#include "tracking/detect/filter/mean_plane.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace motes::tracking::detect {

VolumeFrame mean_of_planes(const VolumeFrame& frame) {
  const auto area = static_cast<std::size_t>(frame.shape.nx * frame.shape.ny);
  std::vector<double> sums(area, 0.0);
  visit_voxels(frame.voxels, [&](auto voxels) {
    for (std::size_t begin = 0; begin < voxels.size(); begin += area)
      for (std::size_t i = 0; i < area; ++i) sums[i] += static_cast<double>(voxels[begin + i]);
  });
  std::vector<float> means;
  means.reserve(area);
  for (const double sum : sums)
    means.push_back(static_cast<float>(sum / static_cast<double>(frame.shape.nz)));
  VolumeFrame plane;
  plane.index = frame.index;
  plane.time_s = frame.time_s;
  plane.shape = {1, frame.shape.ny, frame.shape.nx};
  plane.voxel_um = frame.voxel_um;
  plane.voxels = std::move(means);
  return plane;
}

}  // namespace motes::tracking::detect
