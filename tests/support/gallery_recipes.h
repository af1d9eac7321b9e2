#pragma once
/// The gallery's pictures by name. A recipe says only what differs from the plain picture.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/gallery_scene.h"

namespace motes::testing {

constexpr double kOffset = 100;  // of the camera, grey levels

struct Recipe {
  Shape3 shape{24, 128, 128};
  Vec3 sigma{1.5, 1.5, 1.5};
  double background = 20, snr = 7;
  int spots = 150;
  double margin = 2.5, apart = 7;
  bool dark = false;
  std::function<void(Scene&, Random&)> place;  ///< changes spots before they are drawn
  std::function<void(Scene&, Random&)> light;  ///< changes light after that
  std::function<Field(const Scene&, const Field&, Random&)>
      noise;            ///< light to voxels; else Poisson + offset
  bool floats = false;  ///< stored as f32
};

using Recipes = std::vector<std::pair<std::string, Recipe>>;

const Recipes& recipes();

/// Poisson noise on a camera's offset.
Field poisson_with_offset(const Scene& scene, const Field& light, Random& random);

}  // namespace motes::testing
