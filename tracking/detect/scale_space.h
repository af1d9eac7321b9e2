#pragma once
/// Spots of several sizes in one frame: what is found at each scale, told apart by which scale fits best.

#include <span>
#include <vector>

#include "tracking/detect/response.h"

namespace motes::tracking::detect {

/// A spot as one of the scales sees it.
struct ScaleCandidate {
  std::array<double, 3> place{};  ///< voxels; x, y, z
  double quality = 0;             ///< response of that scale
  std::size_t scale = 0;          ///< index of the filter
};

/// How strongly a scale answers, so that a Gaussian spot answers strongest at its own sigma.
double scale_strength(const Filter& filter, double quality);

/// Filters from `smallest` to `largest` (radii, um), neighbours at most a factor sqrt(2) apart along any
/// axis.
std::vector<Filter> make_scales(const Shape3& shape, const Vec3& voxel_um, const Vec3& smallest,
                                const Vec3& largest);

/// Indices of the candidates, in increasing order, that no stronger candidate of another scale suppresses.
/// The strongest is taken first; it suppresses those of other scales whose centre, or its own, lies within
/// the other's spot, and much weaker ones near it on a face of the frame. Among equals the first one is the
/// stronger. O(n log n) for spots spread out.
std::vector<std::size_t> strongest_over_scales(const Shape3& shape, std::span<const Filter> scales,
                                               std::span<const ScaleCandidate> candidates);

}  // namespace motes::tracking::detect
