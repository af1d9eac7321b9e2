#pragma once
/// Spots of several sizes in one frame: assigns each to the scale that fits best.

#include <span>
#include <vector>

#include "tracking/detect/filter/response.h"

namespace motes::tracking::detect {

/// A spot found at one of the scales.
struct ScaleCandidate {
  std::array<double, 3> place{};  ///< voxels; x, y, z
  double quality = 0;             ///< response of that scale
  std::size_t scale = 0;          ///< index of the filter
};

/// The response, scaled so that a Gaussian spot is strongest at its own sigma.
double scale_strength(const Filter& filter, double quality);

/// Filters from `smallest` to `largest` (radii, um), neighbours at most a factor sqrt(2) apart along any
/// axis.
std::vector<Filter> make_scales(const Shape3& shape, const Vec3& voxel_um, const Vec3& smallest,
                                const Vec3& largest);

/// Indices of the candidates, in increasing order, that no stronger candidate of another scale suppresses.
/// The strongest is taken first. It suppresses candidates of other scales if the centre of one lies within
/// the other's spot, and much weaker ones near it on a face of the frame. Of equal candidates the first one
/// counts as stronger. O(n log n) unless spots crowd.
std::vector<std::size_t> strongest_over_scales(const Shape3& shape, std::span<const Filter> scales,
                                               std::span<const ScaleCandidate> candidates);

/// The scale with the largest total strength of a frame's objects; the figures are for this scale and its two
/// neighbours.
struct ObjectScale {
  std::size_t scale = 0;    ///< index of the filter
  std::size_t objects = 0;  ///< number kept there
  double strength = 0;      ///< sum over these
  double finer = 0;         ///< sum over those kept at finer scales
  double all = 0;           ///< sum over all kept ones
};

/// Unlike strongest_over_scales, separates objects from their grain, which is many spots, some of them
/// stronger. Candidates are examined from the largest scale down. One is kept, with all finer ones within it
/// as its grain, unless those of one scale are typically stronger: then it is the blur of several spots.
/// `candidates`: in the order of their scales, finest first. O(n log n) unless spots crowd.
ObjectScale object_scale(std::span<const Filter> scales, std::span<const ScaleCandidate> candidates);

}  // namespace motes::tracking::detect
