// Balls that touch, as in a dense suspension of colloids.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/choice/choice.h"
#include "tracking/detect/choice/skewed_noise.h"
#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/filter/value_span.h"
#include "tracking/detect/maxima/maxima.h"

namespace {

using namespace motes;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::DetectionOptions;

const Execution kTwo{2};

/// Centres of `count` balls, pushed apart until hardly any overlap.
std::vector<Spot> packed(const Shape3& shape, double radius, int count, Random& random) {
  const Vec3 last{static_cast<double>(shape.nx - 1), static_cast<double>(shape.ny - 1),
                  static_cast<double>(shape.nz - 1)};
  std::vector<Spot> balls(static_cast<std::size_t>(count));
  for (Spot& b : balls) {
    b.x = random.uniform() * last.x;
    b.y = random.uniform() * last.y;
    b.z = random.uniform() * last.z;
  }
  for (int round = 0; round < 300; ++round)
    for (std::size_t i = 0; i < balls.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) {
        Spot &a = balls[i], &b = balls[k];
        const double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
        const double apart = std::sqrt(dx * dx + dy * dy + dz * dz);
        if (apart >= 2 * radius || apart == 0) continue;
        const double push = 0.3 * (2 * radius - apart) / apart;
        const auto move = [&](Spot& s, double by) {
          s.x = std::clamp(s.x + by * dx, 0.0, last.x);
          s.y = std::clamp(s.y + by * dy, 0.0, last.y);
          s.z = std::clamp(s.z + by * dz, 0.0, last.z);
        };
        move(a, push);
        move(b, -push);
      }
  return balls;
}

/// Balls of 150 photons on 20, filled from `inner` radii on, blurred as by a confocal microscope.
VolumeFrame confocal(const Shape3& shape, const std::vector<Spot>& balls, double radius, Random& random,
                     double inner = -1) {
  testing::Field filled(static_cast<std::size_t>(shape.voxels()), 0.0);
  testing::each_voxel(shape, [&](std::size_t i, double z, double y, double x) {
    for (const Spot& b : balls) {
      const double dx = x - b.x, dy = y - b.y, dz = z - b.z;
      if (std::abs(dz) > radius + 1 || std::abs(dy) > radius + 1) continue;
      const double away = std::sqrt(dx * dx + dy * dy + dz * dz);
      const double inside = std::min(radius - away, away - inner * radius) + 0.5;
      filled[i] = std::max(filled[i], std::clamp(inside, 0.0, 1.0));
    }
  });
  testing::Field light = testing::smoothed(filled, shape, {1.1, 1.1, 2.4});
  for (double& v : light) v = 20 + 150 * v;
  return testing::float_frame(shape, testing::photons(light, random));
}

double f1_of(const Detections& found, const std::vector<Spot>& truth, double radius) {
  std::vector<unsigned char> taken(found.size());
  std::size_t hits = 0;
  for (const Spot& t : truth)
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double dx = found.x_um[i] - t.x, dy = found.y_um[i] - t.y, dz = found.z_um[i] - t.z;
      if (taken[i] != 0 || dx * dx + dy * dy + dz * dz > radius * radius) continue;
      taken[i] = 1;
      ++hits;
      break;
    }
  return 2.0 * static_cast<double>(hits) / static_cast<double>(found.size() + truth.size());
}

/// Whether a frame is searched again with a finer filter: spots are missing, or objects touch.
bool are_searched_again(const VolumeFrame& frame, double radius) {
  using namespace motes::tracking::detect;
  const Filter filter = make_filter(frame.shape, frame.voxel_um, {radius, radius, radius});
  const ValueRange range = check_frame(kTwo, frame);
  const Response response(kTwo, frame, filter, tracking::Polarity::bright, range.low);
  const float floor = rounding_floor(filter, range);
  const Choice choice = choose_spots(kTwo, frame, filter, response, tracking::Polarity::bright, floor,
                                     local_maxima(kTwo, response, floor));
  return choice.missing || choice.solid;
}

}  // namespace

TEST_CASE("touching balls are found in every layer", "[detect][packings]") {
  const Shape3 shape{20, 96, 96};
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    Random random(seed);
    const std::vector<Spot> balls = packed(shape, 4, 340, random);
    DetectionOptions options;
    options.radius_um = {3.7, 3.7, 4.8};
    const Detections found = tracking::detect_spots(kTwo, confocal(shape, balls, 4, random), options);
    sum += f1_of(found, balls, 4) / 2;
  }
  CHECK(sum > 0.96);
}

TEST_CASE("balls that fill a third of a stack are found", "[detect][packings]") {
  struct Case {
    double radius, along_z;  // as searched
    int balls;
  };
  const Case c = GENERATE(Case{4, 3.2, 494}, Case{5, 5, 337});
  const Shape3 shape{48, 96, 96};
  Random random(1);
  const std::vector<Spot> balls = packed(shape, c.radius, c.balls, random);
  DetectionOptions options;
  options.radius_um = {c.radius, c.radius, c.along_z};
  const Detections found = tracking::detect_spots(kTwo, confocal(shape, balls, c.radius, random), options);
  CHECK(f1_of(found, balls, c.radius) > 0.98);
}

TEST_CASE("a radius between the usual scales is estimated", "[detect][packings]") {
  // Discs that touch: neither sqrt(2) times nor half their radius finds them.
  const double radius = GENERATE(8.0, 8.5, 9.0, 9.5);
  const Shape3 shape{1, 288, 288};
  Random random(4);
  const int count = static_cast<int>(0.5 * 288 * 288 / (3.14 * radius * radius));
  const std::vector<Spot> discs = packed(shape, radius, count, random);
  const VolumeFrame frame = confocal(shape, discs, radius, random);
  const auto estimate = tracking::estimate_radius(kTwo, frame, tracking::Polarity::bright);
  DetectionOptions options;
  options.radius_um = estimate.value_or(Vec3{1, 1, 1});
  INFO("radius " << radius << ", estimate " << options.radius_um.x);
  CHECK(f1_of(tracking::detect_spots(kTwo, frame, options), discs, radius) > 0.9);
}

TEST_CASE("maxima that respond alike are spots, however few the levels take", "[detect][packings]") {
  std::vector<tracking::detect::LikelySpot> maxima(200);
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    maxima[i].is_round = true;
    maxima[i].spot.score = static_cast<double>(i);
    maxima[i].response = 10 + 0.01 * static_cast<double>(i);
  }
  const tracking::detect::Levels tenth{180, 180};
  CHECK(tracking::detect::spots_are_most(maxima, tenth, 3));
  for (auto& one : maxima) one.response -= 10;
  CHECK_FALSE(tracking::detect::spots_are_most(maxima, tenth, 3));
}

TEST_CASE("touching balls and discs are found without a radius", "[detect][packings]") {
  struct Case {
    Shape3 shape;
    double radius;
    int balls;
  };
  const Case c =
      GENERATE(Case{{48, 96, 96}, 5, 253}, Case{{1, 256, 256}, 4, 651}, Case{{1, 256, 256}, 8, 163});
  Random random(1);
  const std::vector<Spot> balls = packed(c.shape, c.radius, c.balls, random);
  const VolumeFrame frame = confocal(c.shape, balls, c.radius, random);
  DetectionOptions options;
  options.radius_um =
      tracking::estimate_radius(kTwo, frame, tracking::Polarity::bright).value_or(Vec3{1, 1, 1});
  CAPTURE(options.radius_um.x, options.radius_um.z);
  CHECK(f1_of(tracking::detect_spots(kTwo, frame, options), balls, c.radius) > 0.98);
}

TEST_CASE("touching discs are found with their true radius", "[detect][packings]") {
  const Shape3 shape{1, 256, 256};
  const double radius = GENERATE(4.0, 6.0);
  Random random(1);
  const auto count = static_cast<int>(0.5 * 256 * 256 / (3.14159 * radius * radius));
  const std::vector<Spot> discs = packed(shape, radius, count, random);
  DetectionOptions options;
  options.radius_um = {radius, radius, radius};
  const Detections found = tracking::detect_spots(kTwo, confocal(shape, discs, radius, random), options);
  CHECK(f1_of(found, discs, radius) > 0.98);
}

TEST_CASE("only touching objects are searched twice, not smoothed noise", "[detect][packings]") {
  const Shape3 shape{1, 256, 256};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Random random(seed);
    testing::Field noise(static_cast<std::size_t>(shape.voxels()));
    for (double& v : noise) v = 100 * random.normal();
    CHECK_FALSE(
        are_searched_again(testing::float_frame(shape, testing::smoothed(noise, shape, {2, 2, 0})), 4));
    const std::vector<Spot> discs = packed(shape, 4, 651, random);
    CHECK(are_searched_again(confocal(shape, discs, 4, random), 4));
  }
}

TEST_CASE("gaps between touching rings are not spots of the rings' radius", "[detect][packings]") {
  const Shape3 shape{1, 256, 256};
  const double radius = 6;
  Random random(2);
  const auto count = static_cast<int>(0.6 * 256 * 256 / (3.14159 * radius * radius));
  const std::vector<Spot> rings = packed(shape, radius, count, random);
  DetectionOptions options;
  options.radius_um = {radius, radius, radius};
  CHECK(tracking::detect_spots(kTwo, confocal(shape, rings, radius, random, 0.75), options).size() < 10);
}

TEST_CASE("hollow balls are found without a radius, not the gaps between them", "[detect][packings]") {
  const Shape3 shape{64, 192, 192};
  Random random(1);
  const std::vector<Spot> balls = packed(shape, 9, 75, random);
  const VolumeFrame frame = confocal(shape, balls, 9, random, 0.7);
  const auto estimate = tracking::estimate_radius(kTwo, frame, tracking::Polarity::bright);
  DetectionOptions options;
  options.radius_um = estimate.value_or(Vec3{1, 1, 1});
  INFO("estimate " << options.radius_um.x);
  CHECK(f1_of(tracking::detect_spots(kTwo, frame, options), balls, 9) > 0.8);
}
