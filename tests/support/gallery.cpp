/// A picture is made in four steps: expected light (background and spots), noise of the light, what is done
/// to the voxels afterwards (filters, camera defects), storage. A picture's recipe names only what differs
/// from the plain one: 150 spots well apart, sigma 1.5 voxels, background 20 photons, SNR 7, Poisson noise,
/// u16.

#include "tests/support/gallery.h"

#include <algorithm>
#include <stdexcept>

#include "tests/support/gallery_recipes.h"

namespace motes::testing {

const std::vector<std::string>& gallery_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, recipe] : recipes()) all.push_back(name);
    return all;
  }();
  return names;
}

Picture make_picture(const std::string& name, int scale, std::uint64_t seed) {
  const auto found =
      std::find_if(recipes().begin(), recipes().end(), [&](const auto& p) { return p.first == name; });
  if (found == recipes().end()) throw std::invalid_argument("no picture is called " + name);
  const Recipe& recipe = found->second;
  Random random(seed);
  Scene scene;
  scene.shape = {recipe.shape.nz, recipe.shape.ny * scale, recipe.shape.nx * scale};
  scene.sigma = recipe.sigma;
  scene.background = recipe.background;
  scene.dark = recipe.dark;
  scene.peak = peak_of_snr(recipe.snr, recipe.background) * (recipe.dark ? -1 : 1);
  if (recipe.dark) scene.peak = std::max(scene.peak, -0.9 * recipe.background);
  const int count = recipe.spots > 5 ? recipe.spots * scale * scale : recipe.spots;
  scene.spots = places(scene.shape, scene.sigma, count, recipe.margin, recipe.apart, random);
  if (recipe.place) recipe.place(scene, random);
  scene.light.assign(static_cast<std::size_t>(scene.shape.voxels()), scene.background);
  draw_spots(scene);
  if (recipe.light) recipe.light(scene, random);
  const Field values = recipe.noise ? recipe.noise(scene, scene.light, random)
                                    : poisson_with_offset(scene, scene.light, random);
  Picture picture;
  picture.frame.shape = scene.shape;
  picture.frame.voxel_um = {1, 1, 1};
  picture.frame.voxels =
      recipe.floats ? Voxels(std::vector<float>(values.begin(), values.end())) : stored(values);
  picture.truth = scene.spots;
  picture.psf_sigma = scene.sigma;
  picture.dark = recipe.dark;
  return picture;
}

double f1_of(const SpotScore& score, std::size_t truth, std::size_t found) {
  const double all = static_cast<double>(truth + found);
  return all > 0 ? 2 * score.matched / all : 1;
}

}  // namespace motes::testing
