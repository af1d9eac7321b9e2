#pragma once
/// How much the voxels around a place speak for a spot there.

#include <span>
#include <vector>

#include <motes/tracking/volume_frame.h>

#include "tracking/detect/maxima.h"
#include "tracking/detect/response.h"

namespace motes::tracking::detect {

/// The evidence of one extremum of the response.
struct Evidence {
  double score = 0;      ///< signed root of the likelihood ratio, times roundness; 0 where a single voxel
                         ///< explains the window better than a spot does
  double roundness = 0;  ///< 0 to 1: least curvature of the response over half an ideal spot's
  double single = 0;     ///< as the score, of a single voxel in place of a spot
  double amplitude = 0;  ///< of the spot, in the frame's own units; positive for what is looked for
  bool is_round() const { return roundness >= 1; }
};

/// What sign of extremum is scored: bright maxima, or the minima that tell what noise alone scores.
enum class Side { maxima, minima };

/// Whether most voxels hold the lowest value, as where photons are counted.
bool mostly_lowest(const VolumeFrame& frame);

/// Evidence at each of `extrema` [n] (voxels of the response). Each is fitted by least squares within a box
/// of some `reach` sigma either way: a Gaussian spot of the filter's sigma at the extremum's sub-voxel place,
/// a constant and a slope. Voxels outside the frame are left out. `polarity` is the response's own. The same
/// for any thread count and voxel type. O(n * voxels of the box); frames whose sigma is above 3 voxels are
/// binned first, so the box has at most some 15 voxels along each axis.
std::vector<Evidence> evidence_at(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                                  const Response& response, Polarity polarity, std::span<const Voxel> extrema,
                                  Side side, double reach = 2.2);

}  // namespace motes::tracking::detect
