#pragma once
/// Local maxima of a response volume.

#include <cstdint>
#include <span>
#include <vector>

#include "tracking/detect/filter/response.h"

namespace motes::tracking::detect {

struct Voxel {
  std::int64_t z = 0, y = 0, x = 0;
  friend auto operator<=>(const Voxel&, const Voxel&) = default;
};

/// Voxels over `floor` that no voxel of their 26-neighbourhood exceeds, in storage order. A plateau (adjacent
/// voxels of one value) without a higher voxel around it counts once: as the voxel nearest to its centre of
/// mass, or the first such voxel in storage order. Reads only the response itself. O(voxels); the same for
/// any thread count.
std::vector<Voxel> local_maxima(const Execution& execution, const ResponseView& response, float floor);

/// A sample of the strict local minima below -floor, in storage order: those of every `rows_per_sample`-th
/// row. O(voxels / rows_per_sample).
struct SampledMinima {
  std::vector<Voxel> voxels;
  double rows_per_sample = 1;
};
SampledMinima sample_minima(const Execution& execution, const ResponseView& response, float floor,
                            std::int64_t rows_per_sample);

/// Erases voxels where `mask` [voxels of the shape, x fastest] is 0; an empty mask erases none.
void erase_outside(std::span<const std::uint8_t> mask, const Shape3& shape, std::vector<Voxel>& voxels);

}  // namespace motes::tracking::detect
