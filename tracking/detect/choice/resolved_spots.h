#pragma once
/// Finds objects much wider than a voxel, such as nuclei and large beads, by the filter's response.

#include <span>
#include <vector>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/filter/response.h"

namespace motes::tracking::detect {

/// Minima between objects are as clear as the objects, so scores, which are measured against minima, say
/// little in frames of many objects. If sigma in xy is three voxels or more, takes the maxima whose response
/// is above a wide gap, or beyond white noise as strong as the frame's finest detail. They must be clearly
/// higher than minima are deep (`depths`: [any] responses of minima), since in texture both are alike. Maxima
/// of a very low score are left out. Changes `likely` only if that gives a fifth more spots; returns whether
/// it did. O(n log n), where n is the number of maxima.
bool take_resolved(const Filter& filter, const Shape3& shape, const ScoredMaxima& maxima,
                   std::span<const double> depths, std::vector<LikelySpot>& likely);

}  // namespace motes::tracking::detect
