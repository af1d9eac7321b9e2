// Smoothed pictures, padded ones, and given rates of false spots in crowds.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/choice/selection.h"

namespace {

using namespace motes;
using motes::testing::Field;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::Polarity;
namespace detect = motes::tracking::detect;

const Execution kTwo{2};

struct Taken {
  std::vector<Spot> truth;
  VolumeFrame frame;
};

/// Spots of sigma 1.5 on a background of 10 photons, as recorded by a camera, then smoothed by `blur` voxels.
Taken taken(const Shape3& shape, int spots, double snr, double blur, std::uint64_t seed) {
  testing::SpotFrameOptions scene;
  scene.shape = shape;
  scene.psf_sigma = {1.5, 1.5, shape.nz > 1 ? 1.5 : 1.0};
  scene.peak = testing::peak_of_snr(snr, scene.background);
  Taken result{testing::random_spots(shape, spots, seed), {}};
  Random random(seed + 1000);
  const Field light = testing::photons(testing::expected_photons(scene, result.truth), random);
  const Vec3 sigma{blur, blur, shape.nz > 1 ? blur : 0};
  Field values = blur > 0 ? testing::smoothed(light, shape, sigma) : light;
  for (double& v : values) v = std::round(20 * v);
  result.frame = testing::float_frame(shape, values);
  return result;
}

DetectionOptions options_of(double sigma, int dimensions) {
  const double radius = std::sqrt(static_cast<double>(dimensions)) * sigma;
  DetectionOptions options;
  options.radius_um = {radius, radius, radius};
  return options;
}

double f1(const Taken& picture, const Detections& found) {
  return testing::f1_of(testing::score_spots(picture.truth, found, {1, 1, 1}, 3), picture.truth.size(),
                        found.size());
}

constexpr Shape3 kPlane{1, 256, 256};

}  // namespace

TEST_CASE("crowds of weak spots in a smoothed plane are found without any option", "[detect]") {
  struct Case {
    int spots;
    double blur, f1;
  };
  const auto c = GENERATE(Case{60, 1, .85}, Case{250, 1, .85}, Case{250, .7, .85}, Case{120, 2, .8});
  CAPTURE(c.spots, c.blur);
  const Taken picture = taken(kPlane, c.spots, 2, c.blur, 5);
  const double sigma = std::hypot(1.5, c.blur);
  CHECK(f1(picture, detect_spots(kTwo, picture.frame, options_of(sigma, 2))) >= c.f1);
  const auto radius = tracking::estimate_radius(kTwo, picture.frame, Polarity::bright);
  REQUIRE(radius);
  CHECK(radius->x == Approx(std::sqrt(2.0) * sigma).epsilon(.15));
}

TEST_CASE("weak spots in a smoothed stack are found without any option", "[detect]") {
  const Taken picture = taken({20, 96, 96}, 80, 2, 1, 6);
  const double sigma = std::hypot(1.5, 1.0);
  CHECK(f1(picture, detect_spots(kTwo, picture.frame, options_of(sigma, 3))) >= .85);
  const auto radius = tracking::estimate_radius(kTwo, picture.frame, Polarity::bright);
  REQUIRE(radius);
  CHECK(radius->x == Approx(std::sqrt(3.0) * sigma).epsilon(.15));
}

TEST_CASE("smoothed noise has no spots", "[detect]") {
  const Shape3 shape = GENERATE(as<Shape3>{}, kPlane, Shape3{16, 80, 80});
  const double blur = GENERATE(.7, 1.0, 2.0);
  CAPTURE(shape.nz, blur);
  std::size_t false_spots = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Taken picture = taken(shape, 0, 2, blur, seed);
    CHECK_FALSE(tracking::estimate_sizes(kTwo, picture.frame, Polarity::bright).has_value());
    false_spots +=
        detect_spots(kTwo, picture.frame, options_of(std::hypot(1.5, blur), shape.nz > 1 ? 3 : 2)).size();
  }
  CHECK(false_spots <= 1);
}

TEST_CASE("a frame that is mostly padding is not taken for one of counted photons", "[detect]") {
  Taken picture = taken(kPlane, 40, 6, 0, 7);
  picture.truth.clear();
  auto& values = std::get<std::vector<float>>(picture.frame.voxels);
  std::vector<Spot> kept;
  for (const Spot& spot : testing::random_spots(kPlane, 40, 7))
    if (spot.x > 75 && spot.x < 180 && spot.y > 75 && spot.y < 180) kept.push_back(spot);
  picture.truth = kept;
  testing::each_voxel(kPlane, [&](std::size_t i, double, double y, double x) {
    if (x < 70 || x > 185 || y < 70 || y > 185) values[i] = 0;
  });
  CHECK(f1(picture, detect_spots(kTwo, picture.frame, options_of(1.5, 2))) >= .9);
}

TEST_CASE("a given rate of false spots is kept in planes of smoothed noise", "[detect]") {
  constexpr int kFrames = 32;
  const double rate = GENERATE(1.0, 3.0, 10.0, 30.0);
  DetectionOptions options = options_of(1.5, 2);
  options.false_positives_per_frame = rate;
  double found = 0;
  for (std::uint64_t seed = 1; seed <= kFrames; ++seed) {
    Random random(seed + 400);
    VolumeFrame frame;
    frame.shape = {1, 256, 256};
    frame.voxel_um = {1, 1, 1};
    Field noise(static_cast<std::size_t>(frame.shape.voxels()));
    for (double& v : noise) v = random.normal();
    noise = testing::smoothed(noise, frame.shape, {1, 1, 0});
    frame.voxels = std::vector<float>(noise.begin(), noise.end());
    found += static_cast<double>(detect_spots(kTwo, frame, options).size()) / kFrames;
  }
  INFO("rate " << rate << ", found " << found);
  const double chance = 3 * std::sqrt(rate / kFrames);
  CHECK(found >= 0.8 * rate - chance);
  CHECK(found <= 1.2 * rate + chance);
}

TEST_CASE("a higher rate of false spots than the automatic choice has never gives fewer spots", "[detect]") {
  const Taken picture = taken(kPlane, 250, 2, 0, 8);
  DetectionOptions options = options_of(1.5, 2);
  const std::size_t automatic = detect_spots(kTwo, picture.frame, options).size();
  REQUIRE(automatic >= 150);
  options.false_positives_per_frame = .05 * static_cast<double>(automatic) + 1;
  CHECK(detect_spots(kTwo, picture.frame, options).size() >= automatic);
}

TEST_CASE("the level is raised to where a maximum is more likely a spot than noise", "[detect]") {
  detect::NoiseScores noise;
  noise.count = 10000;
  std::vector<double> scores;
  for (int i = 0; i < 300; ++i) scores.push_back(8 + .01 * i);  // spots far above the noise
  const double level = detect::false_discovery_level(noise, scores, .05);
  const double of_noise = noise.count * detect::noise_tail(noise, level);
  for (int i = 0; i < static_cast<int>(of_noise); ++i) scores.push_back(level + .02 * i);
  const double likely = detect::level_of_likely(noise, scores, 4.1);
  CHECK(likely > 4.4);
  CHECK(likely < 8);
  CHECK(detect::level_of_likely(noise, scores, 7.9) == 7.9);
}

TEST_CASE("no spots are found in skewed noise alone, and those in it are found", "[detect]") {
  // Single photons through a gain register (gamma noise), and read noise clipped at 0.
  const bool gain_register = GENERATE(true, false);
  const Shape3 shape{1, 256, 256};
  std::vector<Spot> truth;
  for (int y = 20; y < 250; y += 30)
    for (int x = 20; x < 250; x += 30) truth.push_back({0, y + 0.3, x + 0.2});
  for (const bool spots : {false, true})
    for (const double sigma : {0.8, 1.5}) {
      testing::SpotFrameOptions scene;
      scene.shape = shape;
      scene.psf_sigma = {sigma, sigma, 1};
      scene.background = gain_register ? 2 : 6;
      scene.peak = 60;
      std::mt19937_64 bits(5);
      Random random(6);
      std::vector<double> values;
      for (const double mean : testing::expected_photons(scene, spots ? truth : std::vector<Spot>{})) {
        const double n = random.poisson(mean);
        const double amplified = n > 0 ? std::gamma_distribution<double>(n, 20.0)(bits) : 0;
        const double clipped = std::max(0.0, 8 * n - 60 + 10 * random.normal());
        values.push_back(std::round(gain_register ? 200 + amplified : clipped));
      }
      const Detections found = detect_spots(kTwo, testing::float_frame(shape, values), options_of(sigma, 2));
      CAPTURE(gain_register, spots, sigma);
      CHECK(found.size() <= (!spots ? 0 : sigma < 1 ? 76 : 65));  // of 64
      if (spots) CHECK(testing::score_spots(truth, found, {1, 1, 1}, 2).matched >= 62);
    }
}

TEST_CASE("spots in a stack that was smoothed and then clipped are found without any option", "[detect]") {
  const int spots = GENERATE(20, 80);
  for (const std::uint64_t seed : {1, 2}) {
    Taken picture = taken({20, 128, 128}, spots, 9, 0.7, seed);
    for (float& v : std::get<std::vector<float>>(picture.frame.voxels)) v = std::max(0.0F, v - 20 * 11);
    const auto sizes = tracking::estimate_sizes(kTwo, picture.frame, Polarity::bright);
    REQUIRE(sizes);
    CHECK(sizes->radius_um.x == Approx(std::sqrt(3.0) * std::hypot(1.5, 0.7)).epsilon(0.15));
    DetectionOptions options;
    options.radius_um = sizes->radius_um;
    const Detections found = detect_spots(kTwo, picture.frame, options);
    CAPTURE(spots, seed, sizes->radius_um.x, found.size());
    CHECK(f1(picture, found) >= 0.95);
  }
}

TEST_CASE("noise whose scores are all high is not taken for spots", "[detect]") {
  // As in deconvolved noise: few scores are low, and those of minima are narrow.
  Random random(1);
  std::vector<double> maxima, minima;
  for (int i = 0; i < 2000; ++i) {
    maxima.push_back(4.8 + 1.1 * random.normal());
    minima.push_back(4.0 + random.normal());
  }
  const detect::NoiseScores noise = detect::noise_scores(maxima, minima, 1);
  const double level = detect::false_discovery_level(noise, maxima, 0.05);
  CAPTURE(noise.stretch, noise.count, level);
  CHECK(std::count_if(maxima.begin(), maxima.end(), [&](double s) { return s >= level; }) == 0);
  // Spots that fill the frame are kept.
  for (double& score : maxima) score *= 5;
  const double of_spots =
      detect::false_discovery_level(detect::noise_scores(maxima, minima, 1), maxima, 0.05);
  CHECK(std::count_if(maxima.begin(), maxima.end(), [&](double s) { return s >= of_spots; }) > 1900);
}
