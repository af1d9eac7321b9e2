#pragma once
/// Objects that are much wider than a voxel, as nuclei and large beads are, told by the filter's response.

#include <span>
#include <vector>

#include "tracking/detect/choice.h"
#include "tracking/detect/response.h"

namespace motes::tracking::detect {

/// Minima between objects are as clear as the objects, so scores, which are measured against minima, say
/// little where objects are many. Where sigma is three voxels or more across, takes the maxima whose response
/// is beyond white noise as strong as the frame's finest detail, or above a wide gap, if these are higher
/// than the minima, of these `depths` (responses) [any], are deep: texture has both alike. Those that hardly
/// score are left out. `likely` is changed only if there are a fifth more spots; true if so. O(n log n) of
/// all maxima.
bool take_resolved(const Filter& filter, const Shape3& shape, const ScoredMaxima& maxima,
                   std::span<const double> depths, std::vector<LikelySpot>& likely);

}  // namespace motes::tracking::detect
