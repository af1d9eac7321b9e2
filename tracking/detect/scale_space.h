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

/// The scale at which a frame's spots are strongest in all, with what lies at it and at the scales beside it.
struct ObjectScale {
  std::size_t scale = 0;    ///< index of the filter
  std::size_t objects = 0;  ///< kept there
  double strength = 0;      ///< of these, summed
  double finer = 0;         ///< of what was kept at finer scales
  double all = 0;           ///< of what was kept at any scale
};

/// Unlike strongest_over_scales, tells objects from their grain, which is many spots, some of them stronger:
/// of the largest scale first, a candidate is kept, and all finer ones within it are its grain, unless those
/// of one scale are typically stronger: then it is the blur of several. `candidates` in the order of their
/// scales, from the finest on. O(n log n) for spots spread out.
ObjectScale object_scale(std::span<const Filter> scales, std::span<const ScaleCandidate> candidates);

}  // namespace motes::tracking::detect
