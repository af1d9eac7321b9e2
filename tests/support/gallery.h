#pragma once
/// Pictures of the kinds that microscopes give, with known spots: backgrounds, noise of every colour, camera
/// defects, crowds, borders and empty frames. For the detector's tests and benchmark. Independent of sim/, so
/// that neither checks itself.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/spots.h"

namespace motes::testing {

struct Picture {
  VolumeFrame frame;        ///< voxel 1 um
  std::vector<Spot> truth;  ///< voxels
  Vec3 psf_sigma{1, 1, 1};  ///< voxels, x y z
  bool dark = false;        ///< spots darker than what is around them
};

/// Names of all pictures, in a fixed order.
const std::vector<std::string>& gallery_names();

/// `scale` multiplies the picture's width and height: 1 for tests (some 128 x 128 x 20 voxels), 2 and more
/// for the benchmark. Throws std::invalid_argument for an unknown name. The same seed gives the same voxels.
Picture make_picture(const std::string& name, int scale, std::uint64_t seed);

/// 2 TP / (2 TP + FN + FP); 1 where there is no spot and none was found.
double f1_of(const SpotScore& score, std::size_t truth, std::size_t found);

}  // namespace motes::testing
