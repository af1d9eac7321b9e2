// Nuclei that touch and differ in brightness, and how their shapes tell them from texture.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/choice/solid_objects.h"
#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/filter/value_span.h"
#include "tracking/detect/maxima/maxima.h"

namespace {

using namespace motes;
using motes::testing::Field;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::DetectionOptions;
using motes::tracking::Polarity;
namespace detect = motes::tracking::detect;

const Execution kTwo{2};

struct Scene {
  std::vector<Spot> truth;
  VolumeFrame frame;
};

/// Balls (discs in a plane) 1.8 radii apart or more that fill a third (half) of the frame. Each has one
/// height, lognormal with this spread in its logarithm, and keeps its voxels. Blurred by a voxel, with shot
/// noise.
Scene touching(const Shape3& shape, double radius, double spread, std::uint64_t seed) {
  Random random(seed);
  const bool plane = shape.nz == 1;
  const double volume = plane ? 3.14159 * radius * radius : 4.18879 * radius * radius * radius;
  const auto count = static_cast<int>((plane ? 0.5 : 0.33) * static_cast<double>(shape.voxels()) / volume);
  Scene scene;
  scene.truth = testing::places(shape, {radius, radius, radius}, count, 0, 1.8, random);
  Field light(static_cast<std::size_t>(shape.voxels()), 0.0);
  for (const Spot& spot : scene.truth) {
    const double height = 200 * std::exp(spread * random.normal());
    testing::each_voxel(shape, [&](std::size_t i, double z, double y, double x) {
      if (light[i] == 0 && std::hypot(z - spot.z, y - spot.y, x - spot.x) < radius) light[i] = height;
    });
  }
  light = testing::smoothed(light, shape, {1, 1, plane ? 0.0 : 1.0});
  for (double& value : light) {
    value += 50;
    value += std::sqrt(value) * random.normal();
  }
  scene.frame = testing::float_frame(shape, light);
  return scene;
}

double f1_of(const Scene& scene, double radius, const DetectionOptions& options) {
  const Detections found = detect_spots(kTwo, scene.frame, options);
  const auto score = testing::score_spots(scene.truth, found, {1, 1, 1}, 0.7 * radius);
  return 2.0 * score.matched / static_cast<double>(scene.truth.size() + found.size());
}

/// Whether the extrema of the response to a filter of this radius are solid objects.
bool are_solid(const VolumeFrame& frame, double radius, Polarity polarity = Polarity::bright) {
  const detect::Filter filter = detect::make_filter(frame.shape, frame.voxel_um, {radius, radius, radius});
  const detect::ValueRange range = detect::check_frame(kTwo, frame);
  const detect::Response response(kTwo, frame, filter, polarity, range.low);
  const float floor = detect::rounding_floor(filter, range);
  return detect::are_solid_objects(kTwo, frame, filter, polarity, detect::local_maxima(kTwo, response, floor),
                                   detect::sample_minima(kTwo, response, floor, 1).voxels);
}

/// Two Gaussian fields' sum of squares.
VolumeFrame speckle(const Shape3& shape, double width, std::uint64_t seed) {
  Random random(seed);
  Field light(static_cast<std::size_t>(shape.voxels()), 50.0);
  for (int part = 0; part < 2; ++part) {
    const Field field = testing::texture(shape, {width, width, shape.nz == 1 ? 0 : width}, random);
    for (std::size_t i = 0; i < light.size(); ++i) light[i] += 100 * field[i] * field[i];
  }
  return testing::float_frame(shape, light);
}

VolumeFrame cloud(const Shape3& shape, double width, std::uint64_t seed) {
  Random random(seed);
  Field light = testing::texture(shape, {width, width, shape.nz == 1 ? 0 : width}, random);
  for (double& value : light) value = 500 + 100 * value;
  return testing::float_frame(shape, light);
}

}  // namespace

TEST_CASE("nuclei that touch and differ in brightness are found, with and without their radius", "[detect]") {
  const bool plane = GENERATE(true, false);
  const double radius = GENERATE(5.0, 8.0), spread = GENERATE(0.35, 0.6);
  const Shape3 shape = plane ? Shape3{1, 200, 200} : Shape3{40, 80, 80};
  for (const std::uint64_t seed : {1, 2}) {
    const Scene scene = touching(shape, radius, spread, seed);
    DetectionOptions options;
    options.radius_um = {radius, radius, radius};
    const double given = f1_of(scene, radius, options);
    const auto sizes = tracking::estimate_sizes(kTwo, scene.frame, Polarity::bright);
    REQUIRE(sizes);
    options.radius_um = sizes->radius_um;
    options.largest_radius_um = sizes->largest_radius_um;
    const double estimated = f1_of(scene, radius, options);
    INFO((plane ? "plane" : "stack") << ", radius " << radius << ", spread " << spread << ", seed " << seed
                                     << ": F1 " << given << ", estimated radius " << sizes->radius_um.x
                                     << ": " << estimated);
    CHECK(given >= 0.85);
    CHECK(estimated >= 0.85);
  }
}

TEST_CASE("shapes tell solid objects from textures of any grain", "[detect]") {
  const bool plane = GENERATE(true, false);
  const Shape3 shape = plane ? Shape3{1, 256, 256} : Shape3{40, 80, 80};
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(plane, seed);
    const Scene scene = touching(shape, 7, 0.35, seed);
    CHECK(are_solid(scene.frame, 7));
    CHECK(are_solid(scene.frame, 6));
    CHECK_FALSE(are_solid(scene.frame, 7, Polarity::dark));
    for (const double width : {2.0, 3.0, 4.0})
      for (const double radius : {4.0, 6.0, 9.0}) {
        CAPTURE(width, radius);
        CHECK_FALSE(are_solid(speckle(shape, width, seed), radius));
        CHECK_FALSE(are_solid(cloud(shape, width, seed), radius));
      }
  }
}

TEST_CASE("without enough extrema nothing is solid", "[detect]") {
  const VolumeFrame frame = cloud({1, 64, 64}, 3, 1);
  const detect::Filter filter = detect::make_filter(frame.shape, frame.voxel_um, {6, 6, 6});
  CHECK_FALSE(detect::are_solid_objects(kTwo, frame, filter, Polarity::bright, {}, {}));
}

TEST_CASE("the rank sum of equal samples does not deviate", "[detect]") {
  std::vector<double> a(20), b(20);
  std::iota(a.begin(), a.end(), 0.0);
  std::iota(b.begin(), b.end(), 0.0);
  CHECK(detect::rank_sum_deviation(a, b) == Approx(0).margin(1e-12));
  for (double& value : a) value += 20;
  CHECK(detect::rank_sum_deviation(a, b) == Approx(200 / std::sqrt(20 * 20 * 41 / 12.0)));
  CHECK(detect::rank_sum_deviation(b, a) == Approx(-200 / std::sqrt(20 * 20 * 41 / 12.0)));
}
