// Spots with a flat top and texture (nuclei, rings of membrane), single and side by side.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/fit/gaussian_fit.h"
#include "tracking/detect/size/response_scale.h"
#include "tracking/detect/size/scale_space.h"

namespace {

using namespace motes;
using motes::testing::Field;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::DetectionOptions;
namespace detect = motes::tracking::detect;

const Execution kTwo{2};

struct Kind {
  const char* name;
  Shape3 shape;
  double radius;
  int count;
  double apart;  ///< least distance of centres, in radii
  bool ring;
  double aspect = 1;           ///< length over width, along a random direction
  double least_f1 = 0.95;      ///< least mean F1
  double least_radius = 0.65;  ///< least estimated radius, relative to the true one
};

/// Balls or ellipsoids with 0.8 to 1.2 times the kind's radius, heights from 1 to 2.7 and a texture of 0.3,
/// blurred by a voxel, on an uneven background with shot noise.
struct Nuclei {
  std::vector<Spot> truth;
  VolumeFrame frame;
};

Nuclei nuclei(const Kind& kind, std::uint64_t seed) {
  Random random(seed);
  const double flat = kind.shape.nz == 1 ? 0 : 1;
  const Vec3 unit{kind.radius, kind.radius, kind.radius};
  Nuclei made;
  made.truth = testing::places(kind.shape, unit, kind.count, 1, kind.apart, random);
  const Field texture = testing::texture(kind.shape, {2, 2, 2 * flat}, random);
  Field light(texture.size(), 0.0);
  for (const Spot& spot : made.truth) {
    const double radius = kind.radius * (0.8 + 0.4 * random.uniform());
    const double height = 180 * std::exp(random.uniform());
    Vec3 along{};
    if (kind.aspect > 1) {
      along = {random.normal(), random.normal(), flat * random.normal()};
      const double length = std::hypot(along.x, along.y, along.z);
      along = {along.x / length, along.y / length, along.z / length};
    }
    const auto range = [&](double place, std::int64_t size) {
      const double reach = 1.6 * radius * kind.aspect;
      return std::pair{std::max<std::int64_t>(0, static_cast<std::int64_t>(place - reach)),
                       std::min<std::int64_t>(size, static_cast<std::int64_t>(place + reach) + 2)};
    };
    const auto [z0, z1] = range(spot.z, kind.shape.nz);
    const auto [y0, y1] = range(spot.y, kind.shape.ny);
    const auto [x0, x1] = range(spot.x, kind.shape.nx);
    for (std::int64_t z = z0; z < z1; ++z)
      for (std::int64_t y = y0; y < y1; ++y)
        for (std::int64_t x = x0; x < x1; ++x) {
          Vec3 d{static_cast<double>(x) - spot.x, static_cast<double>(y) - spot.y,
                 static_cast<double>(z) - spot.z};
          const double shorter = (d.x * along.x + d.y * along.y + d.z * along.z) * (1 - 1 / kind.aspect);
          d = {d.x - shorter * along.x, d.y - shorter * along.y, d.z - shorter * along.z};
          const double r = std::hypot(d.x, d.y, d.z) / radius;
          const double u = (r - 0.75) / 0.25;
          const double profile = kind.ring ? std::exp(-u * u) + (r < 1 ? 0.3 : 0) : r < 1 ? 1 : 0;
          const std::size_t i = testing::at(kind.shape, z, y, x);
          light[i] = std::max(light[i], height * profile * std::max(0.1, 1 + 0.3 * texture[i]));
        }
  }
  light = testing::smoothed(light, kind.shape, {1, 1, 2 * flat});
  testing::each_voxel(kind.shape, [&](std::size_t i, double z, double y, double x) {
    light[i] += 100 + 20 * std::sin(x / 20) * std::cos(y / 25) * std::cos(z / 10);
    light[i] += std::sqrt(light[i]) * random.normal();
  });
  made.frame = testing::float_frame(kind.shape, light);
  return made;
}

/// F1 of the detections with this radius.
double f1_of(const Nuclei& made, const Kind& kind, const DetectionOptions& options) {
  const Detections found = detect_spots(kTwo, made.frame, options);
  const auto score = testing::score_spots(made.truth, found, {1, 1, 1}, 0.8 * kind.radius);
  return 2.0 * score.matched / static_cast<double>(made.truth.size() + found.size());
}

}  // namespace

TEST_CASE("a nucleus with texture is one spot, and its radius is found", "[detect]") {
  const Kind kind = GENERATE(Kind{"sparse", {64, 128, 128}, 7, 18, 2.6, false},
                             Kind{"side by side", {64, 128, 128}, 7, 45, 2.15, false},
                             Kind{"rings", {64, 128, 128}, 7, 18, 2.6, true},
                             Kind{"single plane", {1, 300, 300}, 8, 40, 2.6, false},
                             Kind{"crowded plane", {1, 300, 300}, 10, 60, 2.3, false},
                             Kind{"thin stack", {30, 160, 160}, 6, 60, 2.4, false},
                             Kind{"long", {48, 160, 160}, 6, 30, 4, false, 1.8, 0.9},
                             Kind{"long, crowded plane", {1, 300, 300}, 11, 40, 2.3, false, 1.3, 0.8, 0.5});
  double mean = 0;
  const std::vector<std::uint64_t> seeds{1, 2, 3, 4};
  for (const std::uint64_t seed : seeds) {
    const Nuclei made = nuclei(kind, seed);
    const auto sizes = tracking::estimate_sizes(kTwo, made.frame, tracking::Polarity::bright);
    REQUIRE(sizes);
    DetectionOptions options;
    options.radius_um = sizes->radius_um;
    options.largest_radius_um = sizes->largest_radius_um;
    const double f1 = f1_of(made, kind, options);
    INFO(kind.name << " seed " << seed << ": F1 " << f1 << ", radius " << sizes->radius_um.x);
    CHECK(f1 >= kind.least_f1 - 0.1);
    CHECK(sizes->radius_um.x >= kind.least_radius * kind.radius);
    CHECK(sizes->radius_um.x <= 1.4 * kind.radius);
    mean += f1 / static_cast<double>(seeds.size());
  }
  INFO(kind.name << " mean F1 " << mean);
  CHECK(mean >= kind.least_f1);
}

TEST_CASE("nuclei wider than a thin stack is deep are found", "[detect]") {
  const std::int64_t planes = GENERATE(2, 3, 4);
  constexpr double kRadius = 15;
  const Shape3 shape{planes, 200, 200};
  const Execution kOne{1};
  double f1 = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Random random(seed);
    Nuclei made;
    made.truth = testing::places({1, 200, 200}, {kRadius, kRadius, kRadius}, 14, 1, 2.3, random);
    Field light = testing::texture(shape, {1.5, 1.5, 0.5}, random);
    std::vector<double> heights;
    for (std::size_t k = 0; k < made.truth.size(); ++k) heights.push_back(80 + 80 * random.uniform());
    testing::each_voxel(shape, [&](std::size_t i, double, double y, double x) {
      double height = 0;
      for (std::size_t k = 0; k < made.truth.size(); ++k)
        if (std::hypot(x - made.truth[k].x, y - made.truth[k].y) < kRadius) height = heights[k];
      light[i] = height * std::exp(0.25 * light[i]);
    });
    light = testing::smoothed(light, shape, {1, 1, 0});
    made.frame = testing::float_frame(shape, testing::photons(testing::plus(light, 20), random));
    const auto sizes = tracking::estimate_sizes(kOne, made.frame, tracking::Polarity::bright);
    REQUIRE(sizes);
    DetectionOptions options;
    options.radius_um = sizes->radius_um;
    Detections found = detect_spots(kOne, made.frame, options);
    for (double& z : found.z_um) z = 0;
    const auto score = testing::score_spots(made.truth, found, {1, 1, 1}, 0.8 * kRadius);
    f1 += 2.0 * score.matched / static_cast<double>(made.truth.size() + found.size()) / 3;
  }
  INFO(planes << " planes");
  CHECK(f1 > 0.8);
}

TEST_CASE("clouds are not nuclei", "[detect]") {
  const bool plane = GENERATE(true, false);
  const Shape3 shape = plane ? Shape3{1, 256, 256} : Shape3{20, 96, 96};
  const double width = GENERATE(3, 6);
  std::size_t false_spots = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Random random(seed);
    Field light = testing::texture(shape, {width, width, plane ? 0 : width}, random);
    for (double& value : light) value = 1000 + 100 * value + 5 * random.normal();
    DetectionOptions options;
    options.radius_um = {8, 8, 8};
    false_spots += detect_spots(kTwo, testing::float_frame(shape, light), options).size();
  }
  CAPTURE(plane, width);
  CHECK(false_spots <= 2);
}

TEST_CASE("wide spots that overlap are not parts of one", "[detect]") {
  testing::SpotFrameOptions scene;
  scene.shape = {1, 240, 240};
  scene.psf_sigma = {2.3, 2.3, 1};
  std::vector<Spot> spots;
  for (int y = 25; y < 230; y += 38)
    for (int x = 25; x < 230; x += 38) {
      const double angle = 0.7 * static_cast<double>(spots.size());
      Spot one;
      one.y = y, one.x = x;
      spots.push_back(one);
      one.y += 6.2 * std::sin(angle), one.x += 6.2 * std::cos(angle);
      spots.push_back(one);
    }
  const VolumeFrame frame = testing::poisson_frame(scene.shape, testing::expected_photons(scene, spots), 3);
  DetectionOptions options;
  options.radius_um = {2.3 * std::sqrt(2.0), 2.3 * std::sqrt(2.0), 2.3 * std::sqrt(2.0)};
  const Detections found = detect_spots(kTwo, frame, options);
  const auto score = testing::score_spots(spots, found, {1, 1, 1}, 3);
  INFO(found.size() << " of " << spots.size());
  CHECK(2.0 * score.matched / static_cast<double>(spots.size() + found.size()) > 0.95);
}

TEST_CASE("nuclei side by side need not all be round", "[detect]") {
  const Kind kind{"crowd", {72, 144, 144}, 8, 60, 2.1, false};
  double mean = 0;
  const std::vector<std::uint64_t> seeds{1, 2, 3, 4, 5, 6};
  for (const std::uint64_t seed : seeds) {
    DetectionOptions options;
    options.radius_um = {kind.radius, kind.radius, kind.radius};
    const double f1 = f1_of(nuclei(kind, seed), kind, options);
    INFO("seed " << seed << ": F1 " << f1);
    CHECK(f1 >= 0.85);
    mean += f1 / static_cast<double>(seeds.size());
  }
  INFO("mean F1 " << mean);
  CHECK(mean >= 0.95);
}

TEST_CASE("the scale of the largest response distinguishes balls from Gaussian spots", "[detect]") {
  const bool plane = GENERATE(false, true), ball = GENERATE(false, true);
  const Shape3 shape = plane ? Shape3{1, 160, 160} : Shape3{80, 90, 90};
  std::vector<detect::FittedSpot> spots;
  Field light(static_cast<std::size_t>(shape.voxels()), 50.0);
  constexpr double kRadius = 9;
  const double d = plane ? 2 : 3;
  const double width = ball ? kRadius / std::sqrt(d + 2) : 4;
  for (int k = 0; k < 6; ++k) {
    // One spot at a time, since neighbours shift the scale.
    detect::FittedSpot spot;
    spot.place = {shape.nx / 2.0 + 0.1 * k, shape.ny / 2.0, plane ? 0.0 : shape.nz / 2.0};
    spot.amplitude = 100;
    spot.sigma = {width, width, plane ? 0 : width};
    spot.good = true;
    spots.push_back(spot);
  }
  testing::each_voxel(shape, [&](std::size_t i, double z, double y, double x) {
    const double r = std::hypot(x - spots[0].place[0], y - spots[0].place[1], z - spots[0].place[2]);
    light[i] += ball ? (r < kRadius ? 100 : 0) : 100 * std::exp(-0.5 * r * r / (width * width));
  });
  const VolumeFrame frame = testing::float_frame(shape, light);
  const double radius = std::sqrt(d) * width;
  const detect::Filter filter = detect::make_filter(shape, {1, 1, 1}, {radius, radius, radius});
  const double scale = detect::response_scale(kTwo, frame, filter, spots);
  CAPTURE(plane, ball, scale);
  CHECK(scale == Approx(ball ? std::sqrt((d + 2) / d) : std::sqrt(2 / d)).epsilon(0.06));
  CHECK(detect::response_scale(kTwo, frame, filter, std::vector(spots.begin(), spots.begin() + 4)) == 0);
}

TEST_CASE("grain inside objects is distinguished from spots whose blur looks like objects", "[detect]") {
  const Shape3 shape{1, 600, 600};
  std::vector<detect::Filter> scales;
  for (const double radius : {2.0, 2.8, 20.0, 28.0})
    scales.push_back(detect::make_filter(shape, {1, 1, 1}, {radius, radius, radius}));
  // Ten objects, each with twelve fine spots and a much stronger one.
  const auto candidates = [](double fine, double speckle, double object) {
    std::vector<detect::ScaleCandidate> all;
    for (int k = 0; k < 130; ++k) {
      const double x = 50 + 100 * (k % 5), y = 100 + 300 * (k / 5 % 2), turn = k / 10;
      all.push_back({{x + turn * std::cos(turn), y + turn * std::sin(turn), 0}, k < 10 ? speckle : fine, 0});
    }
    for (int k = 0; k < 10; ++k) all.push_back({{50 + 100.0 * (k % 5), 100 + 300.0 * (k / 5), 0}, object, 2});
    return all;
  };
  const detect::ObjectScale objects = detect::object_scale(scales, candidates(4, 30, 8));
  CHECK(objects.scale == 2);
  CHECK(objects.objects == 10);
  CHECK(objects.strength == Approx(80));
  CHECK(objects.finer == 0);
  CHECK(objects.all == Approx(80));
  const detect::ObjectScale spots = detect::object_scale(scales, candidates(9, 9, 8));
  CHECK(spots.scale == 0);
  CHECK(spots.objects == 130);
  CHECK(spots.strength == Approx(130 * 9));
  CHECK(spots.all == Approx(130 * 9));
  CHECK(detect::object_scale(scales, {}).objects == 0);
}

TEST_CASE("a radius at which few of the nuclei side by side are found is not used", "[detect]") {
  const Kind kind{"dense stack", {32, 64, 64}, 7, 60, 1.7, false, 1.3};
  const Nuclei made = nuclei(kind, 1);
  const auto sizes = tracking::estimate_sizes(kTwo, made.frame, tracking::Polarity::bright);
  REQUIRE(sizes);
  CHECK_FALSE(sizes->largest_radius_um);
  DetectionOptions options;
  options.radius_um = sizes->radius_um;
  CHECK(f1_of(made, kind, options) >= 0.5);
}

TEST_CASE("small bright spots in nuclei are found, not the nuclei", "[detect]") {
  const Shape3 shape{1, 256, 256};
  const std::uint64_t seed = GENERATE(1, 2, 3, 4);
  Random random(seed);
  Nuclei made;
  Field light(static_cast<std::size_t>(shape.voxels()), 0.0);
  const std::vector<Spot> centres = testing::places(shape, {16, 16, 0}, 12, 1, 2.2, random);
  testing::each_voxel(shape, [&](std::size_t i, double, double y, double x) {
    for (const Spot& c : centres)
      if (std::hypot(x - c.x, y - c.y) < 14) light[i] = 100;
  });
  light = testing::smoothed(light, shape, {1.5, 1.5, 0});
  for (const Spot& c : centres)
    for (int k = 0; k < 2; ++k)
      made.truth.push_back({0, c.y + 8 * random.uniform() - 4, c.x + (k == 0 ? -7 : 7)});
  testing::each_voxel(shape, [&](std::size_t i, double, double y, double x) {
    for (const Spot& s : made.truth)
      light[i] += 200 * std::exp(-0.5 * std::pow(std::hypot(x - s.x, y - s.y) / 1.3, 2));
    light[i] += 20;
    light[i] += std::sqrt(light[i]) * random.normal();
  });
  made.frame = testing::float_frame(shape, light);
  const auto sizes = tracking::estimate_sizes(kTwo, made.frame, tracking::Polarity::bright);
  REQUIRE(sizes);
  DetectionOptions options;
  options.radius_um = sizes->radius_um;
  options.largest_radius_um = sizes->largest_radius_um;
  const Detections found = detect_spots(kTwo, made.frame, options);
  INFO("seed " << seed << ": " << found.size() << " of " << made.truth.size() << " at radius "
               << sizes->radius_um.x);
  const auto score = testing::score_spots(made.truth, found, {1, 1, 1}, 2);
  CHECK(2.0 * score.matched / static_cast<double>(made.truth.size() + found.size()) > 0.95);
}

TEST_CASE("rims of small rings are not spots", "[detect]") {
  const Shape3 shape{1, 300, 300};
  Random random(GENERATE(1, 2, 3));
  Field light(static_cast<std::size_t>(shape.voxels()), 0.0);
  const std::vector<Spot> centres = testing::places(shape, {6, 6, 0}, 30, 1, 2.6, random);
  std::vector<double> heights, radii;
  for (std::size_t k = 0; k < centres.size(); ++k) {
    heights.push_back(18 + 30 * random.uniform());
    radii.push_back(4.8 + 2.4 * random.uniform());
  }
  testing::each_voxel(shape, [&](std::size_t i, double, double y, double x) {
    for (std::size_t k = 0; k < centres.size(); ++k) {
      const double r = std::hypot(x - centres[k].x, y - centres[k].y) / radii[k];
      if (r > 0.6 && r < 1) light[i] = heights[k];
    }
  });
  light = testing::smoothed(light, shape, {1.2, 1.2, 0});
  for (double& value : light) {
    value += 20;
    value += std::sqrt(value) * random.normal();
  }
  const auto radius =
      tracking::estimate_radius(kTwo, testing::float_frame(shape, light), tracking::Polarity::bright);
  REQUIRE(radius);
  CHECK(radius->x >= 4.5);
}
