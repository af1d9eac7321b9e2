// Spots over the tail of noise that was smoothed and then clipped, as in deconvolved stacks.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/quantile.h>
#include <motes/tracking/log_detector.h>

#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/tail_law.h"

namespace {

using namespace motes;
using motes::testing::Field;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::detect::level_over_tail;

struct Clipped {
  std::vector<Spot> truth;
  VolumeFrame frame;
};

/// White noise smoothed by `blur` voxels, with spots of sigma 1.4 that are `peak` times as high as its
/// deviation; then all that lies below the noise's quantile `share` is set to 0.
Clipped clipped(const Shape3& shape, int spots, double peak, double blur, double share, std::uint64_t seed) {
  Random random(seed);
  testing::Scene scene;
  scene.shape = shape;
  scene.sigma = {1.4, 1.4, 1.4};
  scene.peak = peak;
  scene.spots = testing::places(shape, scene.sigma, spots, 3, 4, random);
  scene.light.assign(static_cast<std::size_t>(shape.voxels()), 0);
  testing::draw_spots(scene);
  Field noise(scene.light.size());
  for (double& v : noise) v = random.normal();
  if (blur > 0) noise = testing::smoothed(noise, shape, {blur, blur, shape.nz > 1 ? blur : 0});
  double square = 0;
  for (const double v : noise) square += v * v;
  const double deviation = std::sqrt(square / static_cast<double>(noise.size()));
  Field sorted = noise;
  const double lowest = quantile(sorted, share);
  for (std::size_t i = 0; i < noise.size(); ++i)
    noise[i] = std::max(0.0, noise[i] - lowest + deviation * scene.light[i]);
  return {scene.spots, testing::float_frame(shape, noise)};
}

Detections found_in(const Clipped& picture) {
  DetectionOptions options;
  const double radius = std::sqrt(picture.frame.shape.nz > 1 ? 3.0 : 2.0) * 1.4;
  options.radius_um = {radius, radius, radius};
  return detect_spots(Execution{2}, picture.frame, options);
}

double f1(const Clipped& picture) {
  const Detections found = found_in(picture);
  return testing::f1_of(testing::score_spots(picture.truth, found, {1, 1, 1}, 3), picture.truth.size(),
                        found.size());
}

constexpr Shape3 kPlane{1, 256, 256}, kStack{16, 96, 96};

}  // namespace

TEST_CASE("values stand out that exceed what the tail of the others reaches", "[detect]") {
  std::vector<double> values;  // an exponential law's
  for (int i = 0; i < 1000; ++i) values.push_back(-std::log(1 - (i + 0.5) / 1000));
  CHECK(std::isinf(*level_over_tail(values, .05)));
  for (int i = 0; i < 20; ++i) values.push_back(18 + i);
  CHECK(*level_over_tail(values, .05) > 7);  // one of noise at most
  CHECK(*level_over_tail(values, .05) <= 18);
  for (int i = 0; i < 2000; ++i) values.push_back(40 + .01 * i);  // more than all others
  CHECK(*level_over_tail(values, .05) > 7);
  CHECK(*level_over_tail(values, .05) < 41);
  std::vector<double> near;  // most, but hardly higher than the others
  for (int i = 0; i < 300; ++i) near.push_back(1 + 1e-4 * i);
  for (int i = 0; i < 400; ++i) near.push_back(2 + 1e-4 * i);
  CHECK(std::isinf(*level_over_tail(near, .05)));
  CHECK_FALSE(level_over_tail(std::vector<double>(50, 1.0), .05));
}

TEST_CASE("noise that was smoothed and then clipped holds no spots, and spots in it are found", "[detect]") {
  const Shape3 shape = GENERATE(kPlane, kStack);
  const double share = GENERATE(.8, .9, .95), blur = GENERATE(.7, 1.0);
  for (const std::uint64_t seed : {1U, 2U}) {
    CAPTURE(shape.nz, share, blur, seed);
    CHECK(found_in(clipped(shape, 0, 0, blur, share, seed)).size() == 0);
    CHECK(f1(clipped(shape, 10, 10, blur, share, seed)) >= .9);
  }
}

TEST_CASE("crowds in noise of which little is left are found", "[detect]") {
  const double share = GENERATE(.8, .9, .98);
  CAPTURE(share);
  CHECK(f1(clipped(kStack, 300, 8, 0, share, 3)) >= .95);
}
