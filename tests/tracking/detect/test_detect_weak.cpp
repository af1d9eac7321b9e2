// Spots near the noise, on sloping backgrounds, and skewed noise without spots.

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/fit/fit_tilt.h"

namespace {

using namespace motes;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::Polarity;
using motes::tracking::Refine;
namespace detect = motes::tracking::detect;

const Execution kTwo{2};

DetectionOptions options_of(double sigma, int dimensions) {
  const double radius = std::sqrt(static_cast<double>(dimensions)) * sigma;
  DetectionOptions options;
  options.radius_um = {radius, radius, radius};
  return options;
}

/// Spots of sigma 2.2 and the given height on a background that rises by 1.5 per voxel along x, with noise of
/// deviation 10.
struct Scene {
  std::vector<Spot> truth;
  VolumeFrame frame;
};

Scene sloping(std::uint64_t seed, int spots, double height, double noise) {
  Random random(seed);
  testing::Scene scene;
  scene.shape = {24, 128, 128};
  scene.sigma = {2.2, 2.2, 2.2};
  scene.peak = height;
  scene.spots = testing::places(scene.shape, scene.sigma, spots, 3, 9, random);
  scene.light.resize(static_cast<std::size_t>(scene.shape.voxels()));
  testing::each_voxel(scene.shape,
                      [&](std::size_t i, double, double, double x) { scene.light[i] = 100 + 1.5 * x; });
  testing::draw_spots(scene);
  for (double& v : scene.light) v += noise * random.normal();
  return {scene.spots, testing::float_frame(scene.shape, scene.light)};
}

}  // namespace

TEST_CASE("spots of SNR 2 are distinguished from noise, given only the radius", "[detect]") {
  testing::SpotFrameOptions scene;
  scene.shape = {10, 384, 384};
  scene.peak = testing::peak_of_snr(2, scene.background);
  const std::vector<Spot> truth = testing::random_spots(scene.shape, 560, 77);
  const VolumeFrame frame = testing::poisson_frame(scene.shape, expected_photons(scene, truth), 78);
  DetectionOptions options;
  options.radius_um = {2.05, 2.05, 1.65};
  const Detections found = detect_spots(kTwo, frame, options);
  const auto score = testing::score_spots(truth, found, {1, 1, 1}, 2.5);
  CHECK(score.jsc >= .88);
  CHECK(static_cast<double>(found.size()) - score.matched <= .08 * static_cast<double>(found.size()));
}

TEST_CASE("spots of SNR 1.5 are found as far as a third of the least ones is false", "[detect]") {
  testing::SpotFrameOptions scene;
  scene.peak = testing::peak_of_snr(1.5, scene.background);
  const std::vector<Spot> truth = testing::random_spots(scene.shape, 1000, 77);
  const VolumeFrame frame = testing::poisson_frame(scene.shape, expected_photons(scene, truth), 78);
  DetectionOptions options;
  options.radius_um = {2.05, 2.05, 1.65};
  const Detections found = detect_spots(kTwo, frame, options);
  const auto score = testing::score_spots(truth, found, {1, 1, 1}, 2.5);
  CAPTURE(found.size(), score.matched, score.jsc);
  CHECK(score.jsc >= .62);  // with half as many false spots expected, .51
  CHECK(static_cast<double>(found.size()) - score.matched <= .08 * static_cast<double>(found.size()));
}

TEST_CASE("faint spots in a plane of shot noise are found, and more of them at a rate of false spots",
          "[detect]") {
  constexpr int kFrames = 20;
  testing::SpotFrameOptions scene;
  scene.shape = {1, 512, 512};
  scene.psf_sigma = {1.5, 1.5, 1};
  scene.peak = testing::peak_of_snr(2, scene.background);
  for (const auto& [count, least, least_at_rate] :
       {std::array{100.0, .955, .965}, std::array{500.0, .915, .925}}) {
    double truth = 0, matched = 0, found = 0, matched_at_rate = 0, found_at_rate = 0;
    for (std::uint64_t seed = 1; seed <= kFrames; ++seed) {
      const std::vector<Spot> spots = testing::random_spots(scene.shape, static_cast<int>(count), 40 + seed);
      const VolumeFrame frame =
          testing::poisson_frame(scene.shape, expected_photons(scene, spots), 50 + seed);
      DetectionOptions options = options_of(scene.psf_sigma.x, 2);
      const Detections few = detect_spots(kTwo, frame, options);
      options.false_positives_per_frame = 20;
      const Detections many = detect_spots(kTwo, frame, options);
      truth += static_cast<double>(spots.size());
      matched += testing::score_spots(spots, few, {1, 1, 1}, 2.5).matched;
      matched_at_rate += testing::score_spots(spots, many, {1, 1, 1}, 2.5).matched;
      found += static_cast<double>(few.size());
      found_at_rate += static_cast<double>(many.size());
    }
    CAPTURE(count, truth, matched, found, matched_at_rate, found_at_rate);
    CHECK(matched >= least * truth);
    CHECK(found - matched <= .08 * found);
    CHECK(matched_at_rate >= least_at_rate * truth);
    CHECK(found_at_rate - matched_at_rate <= 25 * kFrames);
  }
}

TEST_CASE("a few weak spots on a sloping background are found, and their radius with them", "[detect]") {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    CAPTURE(seed);
    const Scene scene = sloping(seed, 12, 12, 10);
    const auto f1 = [&](const DetectionOptions& options) {
      const Detections found = detect_spots(kTwo, scene.frame, options);
      const auto score = testing::score_spots(scene.truth, found, {1, 1, 1}, 3.3);
      return testing::f1_of(score, scene.truth.size(), found.size());
    };
    CHECK(f1(options_of(2.2, 3)) >= .85);
    const std::optional<Vec3> radius = tracking::estimate_radius(kTwo, scene.frame, Polarity::bright);
    REQUIRE(radius);
    CHECK(radius->x == Approx(std::sqrt(3.0) * 2.2).epsilon(.25));
  }
}

TEST_CASE("shot noise and other skewed noise has no spots", "[detect]") {
  const std::string law = GENERATE("light of .5", "light of 1", "light of 4", "log-normal");
  const bool plane = GENERATE(false, true);
  CAPTURE(law, plane);
  const Shape3 shape = plane ? Shape3{1, 300, 300} : Shape3{16, 100, 100};
  std::size_t false_spots = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(100 * seed);
    std::vector<double> values(static_cast<std::size_t>(shape.voxels()));
    for (double& v : values)
      v = law == "log-normal" ? 100 * std::exp(.3 * random.normal())
                              : random.poisson(std::stod(law.substr(9)));
    const VolumeFrame frame = testing::float_frame(shape, values);
    CHECK_FALSE(tracking::estimate_sizes(kTwo, frame, Polarity::bright).has_value());
    for (const double sigma : {1.0, 1.8})
      false_spots += detect_spots(kTwo, frame, options_of(sigma, plane ? 2 : 3)).size();
  }
  CHECK(false_spots <= 1);
}

TEST_CASE("a slope of the background does not move fitted positions", "[detect]") {
  const Scene scene = sloping(5, 10, 40, .01);
  DetectionOptions options = options_of(2.2, 3);
  options.max_count = 10;
  options.refine = Refine::fit;
  const auto score =
      testing::score_spots(scene.truth, detect_spots(kTwo, scene.frame, options), {1, 1, 1}, 3);
  CHECK(score.matched == 10);
  CHECK(score.rmse_voxel < .02);
}

TEST_CASE("the slope around a spot is that of the voxels, and 0 if it is not significant", "[detect]") {
  const Shape3 shape{9, 21, 25};
  std::vector<double> values(static_cast<std::size_t>(shape.voxels()));
  const std::array<double, 3> slope{.75, -.5, .25};
  const auto gauss = [](double z, double y, double x, double z0, double y0, double x0) {
    return std::exp(-.5 * ((z - z0) * (z - z0) + (y - y0) * (y - y0) + (x - x0) * (x - x0)) / 2.25);
  };
  testing::each_voxel(shape, [&](std::size_t i, double z, double y, double x) {
    values[i] = 50 + slope[0] * x + slope[1] * y + slope[2] * z + 30 * gauss(z, y, x, 4.2, 9.9, 10.3) +
                20 * gauss(z, y, x, 4, 10, 17);
  });
  const VolumeFrame frame = testing::float_frame(shape, values);
  detect::Source source;
  source.frame = &frame;
  source.size = {shape.nx, shape.ny, shape.nz};
  source.sigma = {1.5, 1.5, 1.5};
  const detect::SpotModel spot{1, 0, {10.3, 9.9, 4.2}, {1.5, 1.5, 1.5}};
  const std::vector<detect::SpotModel> neighbour{{20, 0, {17, 10, 4}, {1.5, 1.5, 1.5}}};
  const detect::Tilt tilt = detect::tilt_around(source, spot, neighbour, {6, 6, 6}, 4);
  for (std::size_t a = 0; a < 3; ++a) CHECK(tilt.slope[a] == Approx(slope[a]).margin(1e-6));

  Random random(3);
  for (double& v : values) v = random.normal();
  const VolumeFrame noise = testing::float_frame(shape, values);
  source.frame = &noise;
  CHECK(detect::tilt_around(source, spot, {}, {6, 6, 6}, 4).slope == std::array<double, 3>{});
}

TEST_CASE("planes of many weak spots, filtered or not, keep the share of false ones", "[detect]") {
  for (const bool filtered : {false, true}) {
    Random random(11);
    testing::Scene scene;
    scene.shape = {1, 512, 512};
    scene.sigma = {1.6, 1.6, 1.6};
    scene.peak = 40;
    scene.spots = testing::places(scene.shape, scene.sigma, 700, 2, 3, random);
    scene.light.assign(static_cast<std::size_t>(scene.shape.voxels()), 100.0);
    testing::draw_spots(scene);
    for (double& v : scene.light) v += 10 * random.normal();
    if (filtered) scene.light = testing::smoothed(scene.light, scene.shape, {1, 1, 0});
    const VolumeFrame frame = testing::float_frame(scene.shape, scene.light);
    const Detections found = detect_spots(kTwo, frame, options_of(filtered ? 1.9 : 1.6, 2));
    const auto score = testing::score_spots(scene.spots, found, {1, 1, 1}, 3);
    INFO((filtered ? "filtered: " : "as they are: ")
         << score.matched << " of " << scene.spots.size() << " among " << found.size());
    CHECK(score.matched >= 0.93 * static_cast<double>(scene.spots.size()));
    CHECK(score.matched >= 0.95 * static_cast<double>(found.size()));
  }
}
