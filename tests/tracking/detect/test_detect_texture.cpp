// Spots on texture of their own size: clear gaps between values, and few spots near the noise.

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/choice/selection.h"
#include "tracking/detect/filter/hot_voxels.h"

using namespace motes;
using tracking::DetectionOptions;
using tracking::DetectionReport;
using tracking::detect::clear_of_the_rest;

namespace {

constexpr int kSide = 160;

/// Uniform noise, averaged three times over 7 x 7 pixels, of standard deviation 1.
std::vector<double> texture(std::mt19937& random) {
  std::vector<double> field(kSide * kSide);
  for (double& v : field) v = static_cast<double>(random()) / 4294967296.0;
  for (int pass = 0; pass < 6; ++pass) {
    const int step = pass % 2 == 0 ? 1 : kSide;
    std::vector<double> mean(field.size());
    for (int i = 0; i < kSide * kSide; ++i) {
      const int place = (i / step) % kSide, line = i - place * step;
      for (int k = -3; k <= 3; ++k)
        mean[static_cast<std::size_t>(i)] +=
            field[static_cast<std::size_t>(line + (place + k + kSide) % kSide * step)] / 7;
    }
    field = mean;
  }
  double sum = 0, squares = 0;
  for (const double v : field) sum += v, squares += v * v;
  const double n = kSide * kSide, mean = sum / n, deviation = std::sqrt(squares / n - mean * mean);
  for (double& v : field) v = (v - mean) / deviation;
  return field;
}

/// Texture of standard deviation 30 with `spots` of 25 places taken by spots of sigma 4 and that height.
VolumeFrame picture(unsigned seed, int spots, double height) {
  std::mt19937 random(seed);
  const std::vector<double> field = texture(random);
  std::vector<float> voxels;
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) {
      double value = 200 + 30 * field[static_cast<std::size_t>(y * kSide + x)];
      for (int k = 0; k < spots; ++k) {
        const double dy = y - 16 - 32 * (k / 5), dx = x - 16 - 32 * (k % 5);
        value += height * std::exp(-(dx * dx + dy * dy) / 32);
      }
      const double noise = static_cast<double>(random()) / 4294967296.0 - 0.5;
      voxels.push_back(static_cast<float>(value + 10 * noise));
    }
  VolumeFrame frame;
  frame.shape = {1, kSide, kSide};
  frame.voxel_um = {1, 1, 1};
  frame.voxels = std::move(voxels);
  return frame;
}

DetectionOptions options() {
  DetectionOptions o;
  o.radius_um = {4 * std::sqrt(2.0), 4 * std::sqrt(2.0), 4 * std::sqrt(2.0)};
  return o;
}

}  // namespace

TEST_CASE("values are clear of the rest above a gap that the tail below does not reach", "[detect]") {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(2 + 0.1 * i);  // up to 7.9
  CHECK_FALSE(clear_of_the_rest(values));
  for (int i = 0; i < 7; ++i) values.push_back(20 + i);
  CHECK_FALSE(clear_of_the_rest(values));  // seven are too few
  values.push_back(18);
  CHECK(clear_of_the_rest(values) == 18.0);
  std::vector<double> heavy;  // the tail of a Pareto distribution
  for (int i = 1; i <= 200; ++i) heavy.push_back(std::sqrt(200.0 / i));
  CHECK_FALSE(clear_of_the_rest(heavy));
  CHECK_FALSE(clear_of_the_rest(std::vector<double>{}));
  CHECK_FALSE(clear_of_the_rest(std::vector<double>(100, 3.0)));
}

TEST_CASE("spots ten times as high as a texture of their size are found, and the texture is not",
          "[detect]") {
  for (const unsigned seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
    CAPTURE(seed);
    const Detections found = tracking::detect_spots({2}, picture(seed, 25, 300), options());
    CHECK(found.size() >= 24);
    CHECK(found.size() <= 30);
    CHECK(tracking::detect_spots({2}, picture(seed, 0, 0), options()).size() == 0);
  }
}

TEST_CASE("few spots that blend into the noise are kept on request, and the report says that they blend",
          "[detect]") {
  int blending = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const VolumeFrame frame = picture(seed, 12, 150);
    DetectionReport report;
    if (tracking::detect_spots({2}, frame, options(), &report).size() > 0 || !report.blends) continue;
    ++blending;
    CHECK(report.warnings.size() == 1);
    DetectionOptions keep = options();
    keep.keep_blending = true;
    DetectionReport kept;
    CHECK(tracking::detect_spots({2}, frame, keep, &kept).size() > 0);
    CHECK(kept.blends);
  }
  CHECK(blending > 0);
}

TEST_CASE("peaks of skewed noise are not repaired as hot voxels, nor found as spots", "[detect]") {
  const Shape3 shape{1, 256, 256};
  motes::testing::Random random(21);
  const auto frame_of = [&](bool background_taken_off) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.voxels(); ++i) {
      const double light = 2 * random.poisson(10) + 2 * random.normal();
      const bool hot = !background_taken_off && random.uniform() < .002;
      values.push_back(std::round(hot                    ? 4000
                                  : background_taken_off ? std::max(0.0, light - 26)
                                                         : light + 100));
    }
    return motes::testing::float_frame(shape, values);
  };
  motes::tracking::DetectionOptions options;
  options.radius_um = {2.12, 2.12, 2.12};
  const motes::VolumeFrame skewed = frame_of(true), hot = frame_of(false);
  const motes::Execution two{2};
  CHECK_FALSE(motes::tracking::detect::without_hot_voxels(two, skewed, motes::tracking::Polarity::bright));
  CHECK(motes::tracking::detect::without_hot_voxels(two, hot, motes::tracking::Polarity::bright));
  CHECK(motes::tracking::detect_spots(two, skewed, options).size() <= 1);
  CHECK(motes::tracking::detect_spots(two, hot, options).size() <= 1);
}

TEST_CASE("speckle has no objects as wide as its grains", "[detect]") {
  const Shape3 shape{48, 128, 128};
  for (const std::uint64_t seed : {1, 2, 3}) {
    testing::Random random(seed);
    testing::Field light(static_cast<std::size_t>(shape.voxels()), 80);
    for (int part = 0; part < 2; ++part) {
      testing::Field field(light.size());
      for (double& v : field) v = 67 * random.normal();  // smoothed: mean square 10
      field = testing::smoothed(field, shape, {2, 2, 2});
      for (std::size_t i = 0; i < light.size(); ++i) light[i] += field[i] * field[i];
    }
    const VolumeFrame frame = testing::float_frame(shape, testing::photons(light, random));
    const auto estimate = tracking::estimate_radius(Execution{2}, frame, tracking::Polarity::bright);
    DetectionOptions options;
    options.radius_um = estimate.value_or(Vec3{6, 6, 6});
    const auto found = tracking::detect_spots(Execution{2}, frame, options).size();
    INFO("seed " << seed << ", radius " << options.radius_um.x);
    CHECK(found < 50);
    if (seed > 1) CHECK_FALSE(estimate);
  }
}
