// Spots beside fibres and the seams of mosaics.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/choice/lines.h"

namespace {

using namespace motes;
using motes::testing::Field;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::DetectionReport;
namespace detect = motes::tracking::detect;

constexpr Shape3 kPlane{1, 256, 256}, kStack{16, 192, 192};

/// Curves across the frame, `height` spots high and as wide as spots.
void add_fibres(testing::Scene& scene, int count, double height, Random& random) {
  const Shape3& s = scene.shape;
  testing::Scene line = scene;
  line.spots.clear();
  line.light.assign(scene.light.size(), 0);
  for (int f = 0; f < count; ++f) {
    const double z = random.uniform() * static_cast<double>(s.nz - 1);
    double y = random.uniform() * static_cast<double>(s.ny), slope = 0.5 * random.normal();
    for (double x = 0; x < static_cast<double>(s.nx); x += 0.5) {
      slope += 0.03 * random.normal();
      y += 0.5 * slope;
      if (y > 0 && y < static_cast<double>(s.ny - 1)) line.spots.push_back({z, y, x});
    }
  }
  testing::draw_spots(line);
  const double along =
      std::sqrt(2 * std::numbers::pi) * scene.sigma.x / 0.5;  // spots of the line that overlap
  for (std::size_t i = 0; i < scene.light.size(); ++i) scene.light[i] += height / along * line.light[i];
}

testing::Scene scene_of(const Shape3& shape, int spots, Random& random) {
  testing::Scene scene;
  scene.shape = shape;
  scene.peak = 80;
  scene.background = 60;
  scene.spots = testing::places(shape, scene.sigma, spots, 3, 6, random);
  scene.light.assign(static_cast<std::size_t>(shape.voxels()), 0);
  testing::draw_spots(scene);
  return scene;
}

/// One object in the middle that fills a tenth of a plane, or of the middle planes of a stack:
/// `height`(depth, radius) high, where depth is the distance inwards from its rim, in voxels.
template <class Height>
void add_object(testing::Scene& scene, const Height& height) {
  const Shape3& s = scene.shape;
  const double radius = std::sqrt(0.1 * static_cast<double>(s.ny * s.nx) / std::numbers::pi);
  const double flat = s.nz > 1 ? 2 * radius / static_cast<double>(s.nz) : 0;
  const auto from_middle = [](std::int64_t i, std::int64_t n) {
    return static_cast<double>(i) - 0.5 * static_cast<double>(n);
  };
  for (std::int64_t z = 0, i = 0; z < s.nz; ++z)
    for (std::int64_t y = 0; y < s.ny; ++y)
      for (std::int64_t x = 0; x < s.nx; ++x, ++i)
        scene.light[static_cast<std::size_t>(i)] += height(
            radius - std::hypot(from_middle(x, s.nx), from_middle(y, s.ny), flat * from_middle(z, s.nz)),
            radius);
}

struct Result {
  double f1 = 0;
  std::size_t found = 0;
  std::vector<std::string> warnings;
};

Result result_of(const testing::Scene& scene, Random& random) {
  Field light = scene.light;
  for (double& v : light) v += scene.background;
  const VolumeFrame frame = testing::float_frame(scene.shape, testing::photons(light, random));
  DetectionOptions options;
  const double radius = std::sqrt(scene.shape.nz > 1 ? 3.0 : 2.0) * scene.sigma.x;
  options.radius_um = {radius, radius, radius};
  DetectionReport report;
  const Detections found = detect_spots(Execution{2}, frame, options, &report);
  const auto score = testing::score_spots(scene.spots, found, {1, 1, 1}, 2.5);
  return {testing::f1_of(score, scene.spots.size(), found.size()), found.size(), report.warnings};
}

bool warned_of(const Result& result, const std::string& words) {
  return std::any_of(result.warnings.begin(), result.warnings.end(),
                     [&](const std::string& w) { return w.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("spots beside fibres are found without the fibres' maxima", "[detect]") {
  const double height = GENERATE(.5, 1.);
  for (const std::uint64_t seed : {1U, 2U}) {
    CAPTURE(height, seed);
    Random random(seed);
    testing::Scene scene = scene_of(kPlane, 60, random);
    add_fibres(scene, 8, height, random);
    const Result result = result_of(scene, random);
    CAPTURE(result.found);
    CHECK(result.f1 >= .85);
    CHECK(warned_of(result, "lie on lines"));
  }
}

TEST_CASE("places on lines are dropped beside spots, and kept where most are on lines", "[detect]") {
  const Shape3 shape = GENERATE(kPlane, kStack);
  Random random(1);
  testing::Scene scene = scene_of(shape, 0, random), rods = scene;
  const std::vector<Spot> middles = testing::places(shape, scene.sigma, 40, 4, 12, random);
  constexpr std::size_t kRods = 12;
  std::vector<detect::ChosenSpot> places;
  for (std::size_t i = 0; i < middles.size(); ++i) {
    const Spot& m = middles[i];
    places.push_back({{std::lround(m.z), std::lround(m.y), std::lround(m.x)}, 9, 80, 1.5});
    const double reach = i < kRods ? 9 : 0;
    for (double x = -reach; x <= reach; x += .5) rods.spots.push_back({m.z, m.y, m.x + x});
  }
  testing::draw_spots(rods);
  const VolumeFrame frame = testing::float_frame(shape, rods.light);
  const double radius = std::sqrt(shape.nz > 1 ? 3.0 : 2.0) * scene.sigma.x;
  const detect::Filter filter = detect::make_filter(shape, {1, 1, 1}, {radius, radius, radius});
  std::vector<detect::ChosenSpot> on_lines(places.begin(), places.begin() + kRods);
  CHECK(detect::drop_lines(frame, filter, tracking::Polarity::bright, on_lines).most);
  CHECK(on_lines.size() == kRods);
  const detect::OnLines lines = detect::drop_lines(frame, filter, tracking::Polarity::bright, places);
  CHECK(lines.dropped == kRods);
  CHECK(places.size() == middles.size() - kRods);
}

TEST_CASE("the rim of a wide object has hardly any spots", "[detect]") {
  const Shape3 shape = GENERATE(kPlane, kStack);
  const int spots = GENERATE(0, 40);
  const double height = GENERATE(300., 2000.);
  for (const std::uint64_t seed : {1U, 2U}) {
    CAPTURE(shape.nz, spots, height, seed);
    Random random(seed);
    testing::Scene scene = scene_of(shape, spots, random);
    add_object(scene, [&](double depth, double) { return height / (1 + std::exp(-1.7 * depth)); });
    const Result result = result_of(scene, random);
    CAPTURE(result.found);
    if (spots == 0) {
      CHECK(result.found <= 8);
    } else {
      CHECK(result.f1 >= .8);  // spots in the object are hidden
    }
  }
}

TEST_CASE("the noise of a bright object is not taken for spots", "[detect]") {
  for (const std::uint64_t seed : {1U, 2U}) {
    CAPTURE(seed);
    Random random(seed);
    testing::Scene scene = scene_of(kPlane, 40, random);
    add_object(scene, [](double depth, double radius) {
      const double part = std::clamp(depth / radius, 0.0, 1.0);
      return 2000 * std::sqrt(part * (2 - part));
    });
    const Result result = result_of(scene, random);
    CAPTURE(result.found);
    CHECK(result.f1 >= .85);
    CHECK(result.found <= 42);
  }
}
