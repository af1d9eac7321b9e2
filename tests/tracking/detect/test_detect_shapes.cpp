// Warnings of spots that differ in shape, such as lumps of a cloud.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/fit/shapes.h"

namespace {

using namespace motes;
using motes::testing::Field;
using motes::testing::Random;
using motes::tracking::DetectionOptions;
using motes::tracking::DetectionReport;

const Execution kTwo{2};

DetectionOptions options_of(double sigma, const Shape3& shape) {
  DetectionOptions options;
  const double radius = sigma * std::sqrt(shape.nz > 1 ? 3.0 : 2.0);
  options.radius_um = {radius, radius, radius};
  options.refine = tracking::Refine::fit;
  return options;
}

/// Frames of `light`: with shot noise, searched for spots of this sigma.
struct Searched {
  std::size_t found = 0;
  bool warned = false;
};

Searched search(const Shape3& shape, const Field& light, double sigma, Random& random) {
  const VolumeFrame frame = testing::float_frame(shape, testing::photons(light, random));
  DetectionReport report;
  const Detections found = tracking::detect_spots(kTwo, frame, options_of(sigma, shape), &report);
  return {found.size(), std::any_of(report.warnings.begin(), report.warnings.end(), [](const auto& text) {
            return text.find("differ in shape") != std::string::npos;
          })};
}

/// The crests of a random field in a plane: no particles.
Field cloud(const Shape3& shape, Random& random) {
  Field light = testing::texture(shape, {4, 4, 0}, random);
  for (double& v : light) v = 60 + 50 * std::pow(std::max(0.0, v), 1.5);
  return light;
}

/// Spots of sigma 1.5, as rods of seven spots `length` apart in random directions of the plane.
Field rods(const Shape3& shape, double snr, double length, Random& random) {
  testing::Scene scene;
  scene.shape = shape;
  scene.sigma = {1.5, 1.5, shape.nz > 1 ? 1.5 : 1.0};
  scene.light.assign(testing::at(shape, shape.nz - 1, shape.ny - 1, shape.nx - 1) + 1, scene.background);
  const auto places = testing::places(shape, scene.sigma, 60, 5, 12, random);
  for (const testing::Spot& place : places) {
    const double turn = 3.14159 * random.uniform();
    for (int k = -3; k <= 3; ++k) {
      testing::Spot part = place;
      part.x += k * length * std::cos(turn);
      part.y += k * length * std::sin(turn);
      scene.spots.push_back(part);
    }
  }
  scene.peak = testing::peak_of_snr(snr, scene.background) / (length > 0 ? 2 : 7);
  testing::draw_spots(scene);
  return scene.light;
}

Detections shapes(const std::vector<double>& elongations, double error) {
  Detections found;
  const std::size_t n = elongations.size();
  for (auto* column : {&found.x_um, &found.y_um, &found.z_um, &found.radius_um, &found.intensity})
    column->resize(n);
  found.quality.resize(n);
  found.properties = {{"error_x_um", std::vector<double>(n, error)},
                      {"error_y_um", std::vector<double>(n, error)},
                      {"elongation", elongations}};
  return found;
}

}  // namespace

TEST_CASE("lumps of a cloud are few, or reported with a warning", "[detect][shapes]") {
  const Shape3 shape{1, 256, 256};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Random random(seed);
    const Searched lumps = search(shape, cloud(shape, random), 3, random);
    INFO(lumps.found << " found");
    CHECK((lumps.found <= 10 || lumps.warned));
  }
}

TEST_CASE("spots and rods are reported without a warning of their shapes", "[detect][shapes]") {
  for (const Shape3& shape : {Shape3{1, 256, 256}, Shape3{32, 96, 96}}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      INFO("planes " << shape.nz << ", seed " << seed);
      Random random(seed);
      for (const double snr : {2.5, 4.0, 8.0}) {
        INFO("SNR " << snr);
        const Searched spots = search(shape, rods(shape, snr, 0, random), 1.5, random);
        CHECK(spots.found > 20);
        CHECK_FALSE(spots.warned);
      }
      const Searched long_ones = search(shape, rods(shape, 8, 1, random), 2, random);
      CHECK(long_ones.found > 20);
      CHECK_FALSE(long_ones.warned);
    }
  }
}

TEST_CASE("shapes are doubted if they differ by more than noise explains", "[detect][shapes]") {
  const DetectionOptions options = options_of(1, {1, 64, 64});
  const auto doubted = [&](const std::vector<double>& elongations, double error) {
    return tracking::detect::doubt_of_shapes(options, 2, shapes(elongations, error)).has_value();
  };
  const std::vector<double> differ{1.05, 1.2, 1.5, 1.6, 1.9, 1.5}, alike{1.95, 2, 2.05, 2, 2.1, 1.9},
      round{1.05, 1.1, 1.02, 1.6, 1.1, 1.05}, very_long{5, 5, 5.1, 4.9, 5, 5};
  CHECK(doubted(differ, 0.05));
  CHECK_FALSE(doubted(differ, 0.3));  // noise explains it
  CHECK_FALSE(doubted(alike, 0.05));
  CHECK_FALSE(doubted(round, 0.05));
  CHECK(doubted(very_long, 0.05));
  CHECK_FALSE(doubted({1.5, 1.1, 1.9, 1.6}, 0.05));  // too few
  CHECK_FALSE(doubted({}, 0.05));
  CHECK(doubted(differ, 0.12));
  // In stacks the same errors explain more.
  CHECK_FALSE(tracking::detect::doubt_of_shapes(options_of(1, {9, 64, 64}), 3, shapes(differ, 0.12)));
  const double unknown = std::nan("");
  CHECK_FALSE(doubted({1.05, 1.2, 1.5, 1.6, 1.9, unknown, unknown, unknown, unknown, unknown, unknown,
                       unknown, unknown, unknown, unknown, unknown},
                      0.05));  // few fits
  DetectionOptions given = options;
  given.threshold = 5;
  CHECK_FALSE(tracking::detect::doubt_of_shapes(given, 2, shapes(differ, 0.05)));
}
