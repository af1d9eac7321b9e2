// Spots above the tail of smoothed noise: skewed, or clipped after smoothing, as in deconvolved stacks.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/quantile.h>
#include <motes/tracking/log_detector.h>

#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/choice/maxima_law.h"
#include "tracking/detect/choice/tail_law.h"

namespace {

using namespace motes;
using motes::testing::Field;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::detect::level_over_tail;
namespace detect = motes::tracking::detect;

struct Picture {
  std::vector<Spot> truth;
  VolumeFrame frame;
};

enum class Law { normal, exponential, lognormal, photons };

double drawn(Law law, Random& random) {
  switch (law) {
    case Law::normal:
      return random.normal();
    case Law::exponential:
      return -std::log(1 - random.uniform());
    case Law::lognormal:
      return std::exp(0.6 * random.normal());
    default:
      return random.poisson(1);
  }
}

/// Noise smoothed by `blur` voxels, with spots of sigma 1.4 and `peak` times its deviation; then values below
/// the noise's quantile `share` are set to 0.
Picture picture_of(Law law, const Shape3& shape, int spots, double peak, double blur, double share,
                   std::uint64_t seed) {
  Random random(seed);
  testing::Scene scene;
  scene.shape = shape;
  scene.sigma = {1.4, 1.4, 1.4};
  scene.peak = peak;
  scene.spots = testing::places(shape, scene.sigma, spots, 3, 4, random);
  scene.light.assign(static_cast<std::size_t>(shape.voxels()), 0);
  testing::draw_spots(scene);
  Field noise(scene.light.size());
  for (double& v : noise) v = drawn(law, random);
  if (blur > 0) noise = testing::smoothed(noise, shape, {blur, blur, shape.nz > 1 ? blur : 0});
  double sum = 0, square = 0;
  for (const double v : noise) {
    sum += v;
    square += v * v;
  }
  const auto voxels = static_cast<double>(noise.size());
  const double deviation = std::sqrt(square / voxels - sum / voxels * sum / voxels);
  Field sorted = noise;
  const double lowest = quantile(sorted, share);
  for (std::size_t i = 0; i < noise.size(); ++i)
    noise[i] = std::max(0.0, noise[i] - lowest + deviation * scene.light[i]);
  return {scene.spots, testing::float_frame(shape, noise)};
}

Picture clipped(const Shape3& shape, int spots, double peak, double blur, double share, std::uint64_t seed) {
  return picture_of(Law::normal, shape, spots, peak, blur, share, seed);
}

/// Intensity of a complex Gaussian field correlated over 0.8 voxels, with mean 1, and spots of sigma 1.4 and
/// height 20.
Picture speckle(const Shape3& shape, int spots, std::uint64_t seed) {
  Random random(seed);
  testing::Scene scene;
  scene.shape = shape;
  scene.sigma = {1.4, 1.4, 1.4};
  scene.peak = 20;
  scene.spots = testing::places(shape, scene.sigma, spots, 3, 4, random);
  scene.light.assign(static_cast<std::size_t>(shape.voxels()), 0);
  testing::draw_spots(scene);
  double sum = 0;
  Field light(scene.light.size());
  for (int part = 0; part < 2; ++part) {
    Field field(light.size());
    for (double& v : field) v = random.normal();
    field = testing::smoothed(field, shape, {0.8, 0.8, shape.nz > 1 ? 0.8 : 0});
    for (std::size_t i = 0; i < light.size(); ++i) light[i] += field[i] * field[i];
  }
  for (const double v : light) sum += v / static_cast<double>(light.size());
  for (std::size_t i = 0; i < light.size(); ++i) light[i] = light[i] / sum + scene.light[i];
  return {scene.spots, testing::float_frame(shape, light)};
}

Detections found_in(const Picture& picture) {
  DetectionOptions options;
  const double radius = std::sqrt(picture.frame.shape.nz > 1 ? 3.0 : 2.0) * 1.4;
  options.radius_um = {radius, radius, radius};
  return detect_spots(Execution{2}, picture.frame, options);
}

double f1(const Picture& picture) {
  const Detections found = found_in(picture);
  return testing::f1_of(testing::score_spots(picture.truth, found, {1, 1, 1}, 3), picture.truth.size(),
                        found.size());
}

constexpr Shape3 kPlane{1, 256, 256}, kStack{16, 96, 96};

}  // namespace

TEST_CASE("values above the tail of the others are found", "[detect]") {
  std::vector<double> values;  // of an exponential law
  for (int i = 0; i < 1000; ++i) values.push_back(-std::log(1 - (i + 0.5) / 1000));
  CHECK(std::isinf(*level_over_tail(values, .05)));
  for (int i = 0; i < 20; ++i) values.push_back(18 + i);
  CHECK(*level_over_tail(values, .05) > 7);  // at most one value of noise is above
  CHECK(*level_over_tail(values, .05) <= 18);
  for (int i = 0; i < 2000; ++i) values.push_back(40 + .01 * i);  // more than all others
  CHECK(*level_over_tail(values, .05) > 7);
  CHECK(*level_over_tail(values, .05) < 41);
  std::vector<double> near;  // most values, but hardly higher than the others
  for (int i = 0; i < 300; ++i) near.push_back(1 + 1e-4 * i);
  for (int i = 0; i < 400; ++i) near.push_back(2 + 1e-4 * i);
  CHECK(std::isinf(*level_over_tail(near, .05)));
  CHECK_FALSE(level_over_tail(std::vector<double>(50, 1.0), .05));
}

TEST_CASE("noise that was smoothed and then clipped has no spots, and spots in it are found", "[detect]") {
  const Shape3 shape = GENERATE(kPlane, kStack);
  const double share = GENERATE(.8, .9, .95), blur = GENERATE(.7, 1.0);
  for (const std::uint64_t seed : {1U, 2U}) {
    CAPTURE(shape.nz, share, blur, seed);
    CHECK(found_in(clipped(shape, 0, 0, blur, share, seed)).size() == 0);
    CHECK(f1(clipped(shape, 10, 10, blur, share, seed)) >= .9);
  }
}

TEST_CASE("small objects on an empty ground are found, but neither counts nor specks are objects",
          "[detect]") {
  for (const Shape3& shape : {kPlane, kStack}) {
    Picture mask = picture_of(Law::normal, shape, 60, 1e6, 0, 1, 5);
    auto& voxels = std::get<std::vector<float>>(mask.frame.voxels);
    for (float& v : voxels) v = v > 7e5F ? 255 : 0;  // about 1.2 voxels in radius
    CHECK(f1(mask) >= .97);
    for (float& v : voxels) v *= 1 + .01F * static_cast<float>((&v - voxels.data()) % 20);
    CHECK(f1(mask) >= .97);
    CAPTURE(shape.nz);
    Random random(6);
    for (float& v : voxels) v = static_cast<float>(random.poisson(.02));
    CHECK(found_in(mask).size() == 0);
    CHECK(found_in(clipped(shape, 0, 0, .8, .95, 7)).size() == 0);
  }
}

TEST_CASE("crowds in noise that is mostly clipped are found", "[detect]") {
  const double share = GENERATE(.8, .9, .98);
  CAPTURE(share);
  CHECK(f1(clipped(kStack, 300, 8, 0, share, 3)) >= .95);
}

TEST_CASE("the tail of maxima of skewed noise is extrapolated from those below", "[detect]") {
  const int dimensions = GENERATE(2, 3);
  const detect::GaussianMaxima gaussian(dimensions);
  for (const double skew : {0.0, 0.15, 0.3}) {
    const double middle = gaussian.quantile_below(0.5, 100);
    const double scale = skew > 0 ? middle * skew / std::expm1(skew * middle) : 1;
    const auto height = [&](double u) { return scale * (skew > 0 ? std::expm1(skew * u) / skew : u); };
    std::vector<double> heights;
    for (int i = 0; i < 1000; ++i) heights.push_back(height(gaussian.quantile_below((i + .5) / 1000, 100)));
    const detect::SkewedMaxima law(gaussian, heights, 100);
    CAPTURE(dimensions, skew);
    for (const double u : {3.0, 4.5}) {
      CHECK(law.beyond(height(u)) > .5 * gaussian.beyond(u));
      CHECK(law.beyond(height(u)) < (u < 4 ? 1.5 : 12) * gaussian.beyond(u));
    }
  }
}

TEST_CASE("skewed noise that was smoothed has no spots, and spots in it are found", "[detect]") {
  const Law law = GENERATE(Law::exponential, Law::lognormal, Law::photons);
  const Shape3 shape = GENERATE(kPlane, kStack);
  for (const double blur : {.7, 1.0})
    for (const std::uint64_t seed : {1U, 2U}) {
      CAPTURE(static_cast<int>(law), shape.nz, blur, seed);
      CHECK(found_in(picture_of(law, shape, 0, 0, blur, 0, seed)).size() == 0);
      CHECK(f1(picture_of(law, shape, 10, 16, blur, 0, seed)) >= .9);
      if (law == Law::photons) CHECK(f1(picture_of(law, shape, 4, 10, blur, 0, seed)) >= .75);
    }
}

TEST_CASE("speckle has no spots, and spots far above it are found, without any option", "[detect]") {
  const Shape3 shape = GENERATE(as<Shape3>{}, Shape3{1, 256, 256}, Shape3{16, 80, 80});
  const int spots = GENERATE(0, 20);
  CAPTURE(shape.nz, spots);
  for (const std::uint64_t seed : {1, 2}) {
    const Picture picture = speckle(shape, spots, seed);
    const auto sizes = tracking::estimate_sizes(Execution{2}, picture.frame, tracking::Polarity::bright);
    if (spots == 0 && !sizes) continue;
    REQUIRE(sizes);
    DetectionOptions options;
    options.radius_um = sizes->radius_um;
    const Detections found = detect_spots(Execution{2}, picture.frame, options);
    CAPTURE(seed, sizes->radius_um.x, found.size());
    if (spots == 0) {
      CHECK(found.size() == 0);
      continue;
    }
    CHECK(testing::f1_of(testing::score_spots(picture.truth, found, {1, 1, 1}, 2), picture.truth.size(),
                         found.size()) >= 0.9);
  }
}

TEST_CASE("there is a warning for squares of smoothed noise", "[detect]") {
  const Shape3 shape{1, 256, 256};
  Random random(1);
  Field noise(static_cast<std::size_t>(shape.voxels()));
  for (double& v : noise) v = random.normal();
  noise = testing::smoothed(noise, shape, {1, 1, 0});
  for (double& v : noise) v *= v;
  DetectionOptions options;
  options.radius_um = {1.1, 1.1, 1.1};  // as it is estimated
  tracking::DetectionReport report;
  CHECK(detect_spots(Execution{2}, testing::float_frame(shape, noise), options, &report).size() > 100);
  REQUIRE_FALSE(report.warnings.empty());
  CHECK(report.warnings.front().find("they may be noise") != std::string::npos);
}

TEST_CASE("smoothed noise of heavy tails has no spots", "[detect]") {
  const Shape3 shape{1, 256, 256};
  std::size_t found = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    std::mt19937_64 bits(seed);
    std::student_t_distribution<double> law(3);
    Field noise(static_cast<std::size_t>(shape.voxels()));
    for (double& v : noise) v = law(bits);
    DetectionOptions options;
    options.radius_um = {1.5, 1.5, 1.5};  // as it is estimated
    found += detect_spots(Execution{2},
                          testing::float_frame(shape, testing::smoothed(noise, shape, {1, 1, 0})), options)
                 .size();
  }
  CHECK(found <= 20);  // in four frames
}

TEST_CASE("single voxels that clipping leaves are not hot voxels", "[detect]") {
  const Shape3 shape{1, 256, 256};
  for (const std::uint64_t seed : {1, 2, 3}) {
    Random random(seed);
    Field light(static_cast<std::size_t>(shape.voxels()));
    for (double& v : light) v = random.poisson(10);
    light = testing::smoothed(light, shape, {1, 1, 0});
    for (double& v : light) v = std::round(std::max(0.0, v - 10.5));
    const VolumeFrame frame = testing::float_frame(shape, light);
    DetectionOptions options;
    options.radius_um = {1.3, 1.3, 1.3};  // as it is estimated
    CAPTURE(seed);
    CHECK(detect_spots(Execution{2}, frame, options).size() == 0);
  }
}

TEST_CASE("there is a warning if spots may be the tail of speckle", "[detect]") {
  const Picture picture = speckle({16, 80, 80}, 0, 1);
  DetectionOptions options;
  options.radius_um = {1.25, 1.25, 1.25};  // of the speckle itself
  tracking::DetectionReport report;
  CHECK(detect_spots(Execution{2}, picture.frame, options, &report).size() == 0);
  REQUIRE_FALSE(report.warnings.empty());
  CHECK(report.warnings.front().find("do not stand out from the tail") != std::string::npos);
}

TEST_CASE("the given number of noise scores exceed a level, for any correlation of the noise", "[detect]") {
  // A box of 47 directions, two of which are parts of the model; the variances of the others fall by `decay`
  // each.
  const double decay = GENERATE(0.0, 0.1, 0.2);
  constexpr int kFrames = 100, kScores = 2000, kDof = 45;
  Random random(7);
  double found = 0;
  for (int frame = 0; frame < kFrames; ++frame) {
    std::vector<double> scores;
    for (int i = 0; i < kScores; ++i) {
      const double one = random.normal(), other = random.normal();
      double rest = 0, variance = 1;
      for (int k = 0; k < kDof; ++k) {
        const double value = random.normal();
        rest += variance * value * value;
        variance *= std::exp(-decay);
      }
      scores.push_back(std::sqrt(kDof * std::log1p((one * one + other * other) / rest)));
    }
    std::sort(scores.begin(), scores.end());
    const double level = *detect::continued_level(scores, 1, kDof);
    found += static_cast<double>(scores.end() - std::lower_bound(scores.begin(), scores.end(), level));
  }
  INFO("decay " << decay << ", " << found / kFrames << " in a frame");
  CHECK(found / kFrames >= .7);  // the statistical error of 100 frames is 0.1
  CHECK(found / kFrames <= 1.3);
}

TEST_CASE("planes of exponential noise have no spots, or the given number of false ones", "[detect]") {
  constexpr int kFrames = 30;
  double found = 0, automatic = 0;
  for (std::uint64_t seed = 1; seed <= kFrames; ++seed) {
    const Picture picture = picture_of(Law::exponential, kPlane, 0, 0, 0, 0, seed);
    DetectionOptions options;
    options.radius_um = {1.7, 1.7, 1.7};
    automatic += static_cast<double>(detect_spots(Execution{2}, picture.frame, options).size()) / kFrames;
    options.false_positives_per_frame = 1;
    found += static_cast<double>(detect_spots(Execution{2}, picture.frame, options).size()) / kFrames;
  }
  INFO("found " << found << ", without a rate " << automatic);
  CHECK(automatic <= .2);
  CHECK(found >= .5);  // the statistical error of 30 frames is 0.2
  CHECK(found <= 1.6);
}
