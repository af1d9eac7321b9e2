#pragma once
/// Finds objects much wider than a voxel, such as nuclei and large beads, by the filter's response.

#include <span>
#include <vector>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/filter/response.h"

namespace motes::tracking::detect {

/// Where objects are looked for.
struct ResolvedFrame {
  const Execution& execution;
  const VolumeFrame& frame;
  const Filter& filter;
  Polarity polarity;
  bool tell_solid = false;  ///< as in ChoiceOptions
};

struct Resolved {
  bool taken = false;  ///< the spots are those of this rule
  bool solid = false;  ///< by their shapes (solid_objects.h); known if these spots need it, or by tell_solid
};

/// Minima between objects are as clear as the objects, so scores, which are measured against minima, say
/// little in frames of many objects. If sigma in xy is two voxels or more, adds the maxima beyond white noise
/// if they are solid objects by their shapes. Otherwise, from three voxels on, takes the maxima whose
/// response is above a wide gap, or beyond white noise as strong as the frame's finest detail. They must be
/// clearly higher than minima are deep (`depths`: [any] responses of minima), since in texture both are
/// alike. Maxima of a very low score are left out; changes `likely` only if that gives a fifth more spots.
/// O(n log n) for n maxima, and are_solid_objects if a fifth more maxima than spots are beyond white noise.
Resolved take_resolved(const ResolvedFrame& at, const ScoredMaxima& maxima, std::span<const double> depths,
                       std::vector<LikelySpot>& likely);

}  // namespace motes::tracking::detect
