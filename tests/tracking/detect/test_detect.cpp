#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/log_detector.h>

#include "tests/support/spots.h"

namespace {

using motes::Detections;
using motes::Execution;
using motes::Shape3;
using motes::Vec3;
using motes::VolumeFrame;
using motes::testing::Spot;
using motes::testing::SpotFrameOptions;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::DetectionReport;
using motes::tracking::Polarity;

const Execution kTwo{2};

/// The radius of a Gaussian spot in a stack, from its sigma.
double radius_of_sigma(double sigma) { return std::numbers::sqrt3 * sigma; }

DetectionOptions options_for(const Vec3& psf_sigma, const Vec3& voxel_um = {1, 1, 1}) {
  DetectionOptions options;
  options.radius_um = {radius_of_sigma(psf_sigma.x) * voxel_um.x, radius_of_sigma(psf_sigma.y) * voxel_um.y,
                       radius_of_sigma(psf_sigma.z) * voxel_um.z};
  return options;
}

VolumeFrame noise_free(const SpotFrameOptions& options, const std::vector<Spot>& spots) {
  return motes::testing::float_frame(options.shape, expected_photons(options, spots));
}

bool same(const Detections& a, const Detections& b) {
  return a.x_um == b.x_um && a.y_um == b.y_um && a.z_um == b.z_um && a.quality == b.quality &&
         a.intensity == b.intensity && a.radius_um == b.radius_um;
}

double error_voxel(const Detections& found, const Spot& truth, const Vec3& voxel_um) {
  const auto score = motes::testing::score_spots({truth}, found, voxel_um, 2);
  return score.matched == 1 ? score.rmse_voxel : 1e9;
}

}  // namespace

TEST_CASE("one spot is found to .05 voxel at any sub-voxel place, in um", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {17, 21, 23};
  const Vec3 sigma =
      GENERATE(Vec3{1.5, 1.5, 1.5}, Vec3{1.2, 1.2, 1.0}, Vec3{2.5, 2.5, 1.0}, Vec3{1.0, 1.0, 0.9});
  scene.psf_sigma = sigma;
  const Vec3 voxel{0.1, 0.12, 0.3};
  double worst = 0;
  for (int i = 0; i < 60; ++i) {
    const Spot spot{8 + std::fmod(0.37 * i, 1.0) - 0.5, 10 + std::fmod(0.61 * i, 1.0) - 0.5,
                    11 + std::fmod(0.83 * i, 1.0) - 0.5};
    VolumeFrame frame = noise_free(scene, {spot});
    frame.voxel_um = voxel;
    const Detections found = detect_spots(kTwo, frame, options_for(sigma, voxel));
    REQUIRE(found.size() == 1);
    worst = std::max(worst, error_voxel(found, spot, voxel));
    const double mean_radius =
        std::numbers::sqrt3 * std::cbrt(sigma.x * sigma.y * sigma.z * voxel.x * voxel.y * voxel.z);
    CHECK(found.radius_um[0] == Approx(mean_radius).epsilon(0.15));
  }
  INFO("psf sigma " << sigma.x << ' ' << sigma.y << ' ' << sigma.z);
  CHECK(worst < 0.05);
}

TEST_CASE("a single plane is a 2D frame", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {1, 40, 50};
  scene.psf_sigma = {1.5, 1.5, 1};
  const std::vector<Spot> spots{{0, 10.3, 12.7}, {0, 25.5, 30.0}};
  const Detections found = detect_spots(kTwo, noise_free(scene, spots), options_for({1.22, 1.22, 1.22}));
  REQUIRE(found.size() == 2);
  CHECK(found.z_um == std::vector<double>{0, 0});
  CHECK(motes::testing::score_spots(spots, found, {1, 1, 1}, 2).rmse_voxel < 0.05);
  CHECK(found.radius_um[0] == Approx(std::numbers::sqrt2 * 1.5).epsilon(0.1));
}

TEST_CASE("intensity is the smoothed value at the spot", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {21, 31, 31};
  scene.psf_sigma = {2, 2, 2};
  const Detections found =
      detect_spots(kTwo, noise_free(scene, {{10, 15, 15}}), options_for(scene.psf_sigma));
  REQUIRE(found.size() == 1);
  const double variance = 4, filter = variance;
  CHECK(found.intensity[0] == Approx(10 + 100 * std::pow(variance / (variance + filter), 1.5)).epsilon(0.01));
  // sigma^2 Laplacian of that Gaussian: 3 sigma^2 / (variance + sigma^2) times its height.
  CHECK(found.quality[0] ==
        Approx((found.intensity[0] - 10) * 3 * filter / (variance + filter)).epsilon(0.05));
}

TEST_CASE("two touching spots are separated", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {15, 25, 31};
  scene.psf_sigma = {1.5, 1.5, 1.5};
  const std::vector<Spot> spots{{7, 12, 12.2}, {7.2, 12.1, 16.8}};
  const Detections found = detect_spots(kTwo, noise_free(scene, spots), options_for(scene.psf_sigma));
  REQUIRE(found.size() == 2);
  CHECK(motes::testing::score_spots(spots, found, {1, 1, 1}, 1).matched == 2);
}

TEST_CASE("spots at the borders are found", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {10, 30, 32};
  scene.psf_sigma = {1.2, 1.2, 1};
  const std::vector<Spot> spots{{0, 15, 16},    {9, 8, 8},     {0.5, 24, 7}, {8.6, 23, 24},
                                {4.7, 0, 16.2}, {5, 15.6, 31}, {0, 0, 0},    {4, 14.6, 0.3}};
  for (const Spot& spot : spots) {
    const Detections found = detect_spots(kTwo, noise_free(scene, {spot}), options_for(scene.psf_sigma));
    INFO("spot at " << spot.z << ' ' << spot.y << ' ' << spot.x);
    REQUIRE(found.size() == 1);
    CHECK(error_voxel(found, spot, {1, 1, 1}) < 0.3);
  }
}

TEST_CASE("dark spots are bright spots of the inverted frame", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {12, 30, 30};
  scene.background = 200;
  scene.peak = -100;
  const std::vector<Spot> spots{{5.3, 10.1, 9.8}, {6.2, 20.4, 21.6}};
  DetectionOptions options = options_for(scene.psf_sigma);
  options.polarity = Polarity::dark;
  const Detections found = detect_spots(kTwo, noise_free(scene, spots), options);
  REQUIRE(found.size() == 2);
  CHECK(motes::testing::score_spots(spots, found, {1, 1, 1}, 2).rmse_voxel < 0.05);
  options.max_count = 10;
  options.polarity = Polarity::bright;
  for (const double q : detect_spots(kTwo, noise_free(scene, spots), options).quality)
    CHECK(q < 0.5 * found.quality[0]);
}

TEST_CASE("a frame without contrast has no spots", "[detect]") {
  const float value = GENERATE(0.0F, 1000.0F, -7.3F, 1e-30F, 1e30F);
  VolumeFrame frame;
  frame.shape = {5, 20, 20};
  frame.voxel_um = {1, 1, 1};
  frame.voxels = std::vector<float>(2000, value);
  DetectionOptions options = options_for({1.5, 1.5, 1.5});
  SECTION("automatic threshold") {}
  SECTION("explicit threshold of 0") { options.threshold = 0; }
  SECTION("the best ten") { options.max_count = 10; }
  DetectionReport report;
  CHECK(detect_spots(kTwo, frame, options, &report).empty());
  CHECK(report.local_maxima == 0);
  CHECK_FALSE(estimate_radius(kTwo, frame, Polarity::bright).has_value());
}

TEST_CASE("tiny and empty volumes are accepted", "[detect]") {
  const Shape3 shape = GENERATE(Shape3{1, 1, 1}, Shape3{2, 3, 1}, Shape3{1, 1, 4}, Shape3{1, 7, 1},
                                Shape3{2, 2, 2}, Shape3{0, 0, 0}, Shape3{0, 5, 5}, Shape3{3, 3, 3});
  VolumeFrame frame;
  frame.shape = shape;
  frame.voxel_um = {1, 1, 1};
  std::vector<std::uint8_t> voxels(static_cast<std::size_t>(shape.voxels()), 10);
  if (!voxels.empty()) voxels[voxels.size() / 2] = 200;
  frame.voxels = voxels;
  DetectionOptions options = options_for({1.5, 1.5, 1.5});
  options.threshold = 0;
  const Detections found = detect_spots(kTwo, frame, options);
  CHECK(found.size() == (shape.voxels() > 1 ? 1 : 0));
  options.threshold.reset();
  CHECK(detect_spots(kTwo, frame, options).size() <= 1);
  CHECK_NOTHROW(estimate_radius(kTwo, frame, Polarity::bright));
}

TEST_CASE("a filter much wider than the volume is accepted", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {3, 5, 9};
  DetectionOptions options = options_for({50, 60, 40});
  options.threshold = 0;
  CHECK(detect_spots(kTwo, noise_free(scene, {{1, 2, 4}}), options).size() <= 1);
}

TEST_CASE("voxel types and thread counts do not change what is found", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {9, 70, 150};
  scene.peak = 60;
  const std::vector<Spot> spots = motes::testing::random_spots(scene.shape, 60, 5);
  const VolumeFrame u16 = motes::testing::poisson_frame(scene.shape, expected_photons(scene, spots), 6);
  const auto& source = std::get<std::vector<std::uint16_t>>(u16.voxels);
  VolumeFrame u8 = u16, f32 = u16;
  std::vector<std::uint8_t> bytes;
  for (const std::uint16_t v : source) bytes.push_back(static_cast<std::uint8_t>(std::min<int>(v, 255)));
  REQUIRE(std::equal(bytes.begin(), bytes.end(), source.begin()));
  u8.voxels = bytes;
  f32.voxels = std::vector<float>(source.begin(), source.end());
  DetectionOptions options = options_for(scene.psf_sigma);
  SECTION("automatic") {}
  SECTION("best") { options.max_count = 40; }
  const Detections reference = detect_spots(Execution{1}, u16, options);
  REQUIRE(reference.size() >= 40);
  for (const int threads : {1, 2, 3, 7, 0}) {
    CHECK(same(detect_spots(Execution{threads}, u8, options), reference));
    CHECK(same(detect_spots(Execution{threads}, u16, options), reference));
    CHECK(same(detect_spots(Execution{threads}, f32, options), reference));
    CHECK(estimate_radius(Execution{threads}, u8, Polarity::bright) ==
          estimate_radius(Execution{1}, u16, Polarity::bright));
  }
}

TEST_CASE("detections are in storage order and have the frame's number and time", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {20, 40, 40};
  VolumeFrame frame = noise_free(scene, {{15, 10, 10}, {5, 30, 30}, {5, 30, 10}, {5, 10, 30}});
  frame.index = 7;
  frame.time_s = 3.5;
  const Detections found = detect_spots(kTwo, frame, options_for(scene.psf_sigma));
  REQUIRE(found.size() == 4);
  CHECK(found.frame == 7);
  CHECK(found.time_s == 3.5);
  CHECK(found.x_um[0] == Approx(30).margin(.1));
  CHECK(found.x_um[1] == Approx(10).margin(.1));
  CHECK(found.z_um[3] == Approx(15).margin(.1));
}

TEST_CASE("unusable voxels are rejected with their place", "[detect]") {
  VolumeFrame frame;
  frame.index = 12;
  frame.shape = {3, 4, 5};
  frame.voxel_um = {1, 1, 1};
  std::vector<float> voxels(60, 1.0F);
  const float bad =
      GENERATE(std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 3e38F);
  voxels[2 * 20 + 1 * 5 + 3] = bad;
  voxels[59] = bad;
  frame.voxels = voxels;
  const DetectionOptions options = options_for({1, 1, 1});
  CHECK_THROWS_WITH(detect_spots(kTwo, frame, options),
                    Catch::Contains("frame 12") && Catch::Contains("(2, 1, 3)"));
  CHECK_THROWS_AS(detect_spots(kTwo, frame, options), motes::InputError);
  CHECK_THROWS_AS(estimate_radius(kTwo, frame, Polarity::bright), motes::InputError);
}

TEST_CASE("frames whose squares overflow or underflow are rejected, others are searched", "[detect]") {
  VolumeFrame frame;
  frame.shape = {9, 20, 20};
  frame.voxel_um = {1, 1, 1};
  const auto times = [&](float unit) {
    std::vector<float> voxels(3600);
    for (std::size_t i = 0; i < voxels.size(); ++i) {
      const double z = static_cast<double>(i / 400) - 4, y = static_cast<double>(i / 20 % 20) - 10,
                   x = static_cast<double>(i % 20) - 10;
      const double spot = 50 * std::exp(-(x * x + y * y + z * z) / (2 * 1.5 * 1.5));
      voxels[i] = unit * static_cast<float>(spot + static_cast<double>(i * 7919 % 101) / 100);
    }
    frame.voxels = voxels;
    return detect_spots(kTwo, frame, options_for({1.5, 1.5, 1.5})).size();
  };
  CHECK(times(1) == 1);
  CHECK(times(0x1p53F) == 1);
  CHECK_THROWS_WITH(times(0x1p55F),
                    Catch::Contains("frame 0") && Catch::Contains("divide them by a constant"));
  CHECK(times(0x1p-65F) == 1);
  CHECK_THROWS_WITH(times(0x1p-68F),
                    Catch::Contains("frame 0") && Catch::Contains("multiply them by a constant"));
  CHECK(times(0) == 0);
}

TEST_CASE("invalid options and frames are rejected", "[detect]") {
  VolumeFrame frame;
  frame.shape = {2, 2, 2};
  frame.voxel_um = {1, 1, 1};
  frame.voxels = std::vector<std::uint8_t>(8);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double radius : {0.0, -1.0, nan, 1e9, std::numeric_limits<double>::infinity()}) {
    DetectionOptions options = options_for({1, 1, 1});
    options.radius_um.y = radius;
    CHECK_THROWS_AS(detect_spots(kTwo, frame, options), motes::UsageError);
  }
  DetectionOptions options = options_for({1, 1, 1});
  options.threshold = nan;
  CHECK_THROWS_AS(detect_spots(kTwo, frame, options), motes::UsageError);
  options = options_for({1, 1, 1});
  options.max_count = -1;
  CHECK_THROWS_AS(detect_spots(kTwo, frame, options), motes::UsageError);
  options = options_for({1, 1, 1});
  frame.voxel_um.z = 0;
  CHECK_THROWS_AS(detect_spots(kTwo, frame, options), motes::InputError);
  frame.voxel_um.z = 1;
  frame.shape = {2, 2, 3};
  CHECK_THROWS_AS(detect_spots(kTwo, frame, options), motes::InputError);
  frame.shape = {-2, -2, 2};
  CHECK_THROWS_AS(detect_spots(kTwo, frame, options), motes::InputError);
}
