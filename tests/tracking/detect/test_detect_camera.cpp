/// The camera model: weights, standard errors, photons, and the estimation of a camera from noise.

#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/log_detector.h>

#include "tests/support/spots.h"
#include "tracking/detect/fit/camera.h"
#include "tracking/detect/fit/fit_noise.h"

namespace {

using namespace motes;
using Catch::Matchers::Contains;
using motes::testing::Spot;
using motes::testing::SpotFrameOptions;
using motes::tracking::CameraModel;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::DetectionReport;
using motes::tracking::Refine;
using motes::tracking::VoxelNoise;
namespace detect = motes::tracking::detect;

const Execution kTwo{2};

struct Scene {
  SpotFrameOptions optics;
  CameraModel camera;
  std::vector<Spot> spots;
  VolumeFrame frame;

  /// Spots on a grid, away from voxel centres.
  Scene(const SpotFrameOptions& given, const CameraModel& by, int apart, std::uint64_t seed)
      : optics(given), camera(by) {
    const bool flat = optics.shape.nz == 1;
    const std::vector<Spot> off = motes::testing::random_spots({2, 2, 2}, 4000, 9);
    std::size_t k = 0;
    for (int y = apart; y < optics.shape.ny - apart / 2; y += apart)
      for (int x = apart; x < optics.shape.nx - apart / 2; x += apart, ++k)
        spots.push_back(
            {flat ? 0 : 0.5 * static_cast<double>(optics.shape.nz) + off[k].z, y + off[k].y, x + off[k].x});
    const VolumeFrame photons =
        motes::testing::poisson_frame(optics.shape, expected_photons(optics, spots), seed);
    std::mt19937_64 random(seed + 1);
    std::normal_distribution<double> normal;
    std::vector<double> grey;
    for (const std::uint16_t n : std::get<std::vector<std::uint16_t>>(photons.voxels))
      grey.push_back(std::round(*camera.gain * n + *camera.offset + *camera.read_noise * normal(random)));
    frame = motes::testing::float_frame(optics.shape, grey);
  }
  double photons() const {
    const Vec3& s = optics.psf_sigma;
    const double root = std::sqrt(2 * M_PI);
    return optics.peak * root * s.x * root * s.y * (optics.shape.nz > 1 ? root * s.z : 1);
  }
  Detections find(const CameraModel& known, DetectionReport& report) const {
    DetectionOptions options;
    const double d = std::sqrt(optics.shape.nz > 1 ? 3.0 : 2.0);
    options.radius_um = {d * optics.psf_sigma.x, d * optics.psf_sigma.y, d * optics.psf_sigma.z};
    options.refine = Refine::fit;
    options.max_count = static_cast<std::int64_t>(spots.size());
    options.camera = known;
    return detect_spots(kTwo, frame, options, &report);
  }
};

Scene stack() {
  SpotFrameOptions optics;
  optics.shape = {20, 256, 256};
  optics.psf_sigma = {1.5, 1.5, 1.5};
  optics.peak = 60;
  return {optics, {2, 100, 4}, 12, 41};
}

Scene plane(double sigma, int apart) {
  SpotFrameOptions optics;
  optics.shape = {1, 500, 500};
  optics.psf_sigma = {sigma, sigma, 1};
  optics.peak = 150;
  return {optics, {2.2, 100, 5}, apart, 43};
}

const std::vector<double>& column(const Detections& found, const std::string& name) {
  const auto it = std::find_if(found.properties.begin(), found.properties.end(),
                               [&](const PropertyColumn& c) { return c.name == name; });
  REQUIRE(it != found.properties.end());
  return it->values;
}

/// Root mean squares of errors divided by standard errors, and the median number of photons.
struct Truth {
  double x = 0, photons = 0, median = 0;
  int n = 0;
};

Truth against(const Scene& scene, const Detections& found) {
  Truth sum;
  std::vector<double> all;
  const bool counted = std::any_of(found.properties.begin(), found.properties.end(),
                                   [](const PropertyColumn& c) { return c.name == "photons"; });
  for (const Spot& t : scene.spots)
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (std::hypot(found.x_um[i] - t.x, found.y_um[i] - t.y, found.z_um[i] - t.z) > 2.5) continue;
      sum.x += std::pow((found.x_um[i] - t.x) / column(found, "error_x_um")[i], 2);
      ++sum.n;
      if (!counted) continue;
      all.push_back(column(found, "photons")[i]);
      sum.photons += std::pow((all.back() - scene.photons()) / column(found, "error_photons")[i], 2);
    }
  std::sort(all.begin(), all.end());
  return {std::sqrt(sum.x / sum.n), std::sqrt(sum.photons / sum.n), all.empty() ? 0 : all[all.size() / 2],
          sum.n};
}

std::vector<detect::NoiseSample> samples(const CameraModel& camera, bool whole_levels) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<detect::NoiseSample> all;
  for (int i = 0; i < 30000; ++i) {
    // Many voxels of background, and fewer for more light.
    const double expected = *camera.offset + (10 + 0.5 * i / (30001.0 - i)) * *camera.gain;
    const double variance =
        *camera.gain * (expected - *camera.offset) + *camera.read_noise * *camera.read_noise;
    double value = expected + std::sqrt(variance) * normal(random);
    if (whole_levels) value = std::round(value);
    const auto r = static_cast<float>(value - expected);
    all.push_back({static_cast<float>(expected), r * r});
  }
  return all;
}

}  // namespace

TEST_CASE("with a known camera standard errors and photons are right", "[detect]") {
  const Scene scene = GENERATE(stack(), plane(1.5, 14), plane(5, 40));
  DetectionReport report;
  const Truth truth = against(scene, scene.find(scene.camera, report));
  INFO(scene.optics.shape.nz << " planes, sigma " << scene.optics.psf_sigma.x);
  REQUIRE(truth.n >= static_cast<int>(scene.spots.size()) - 2);
  CHECK(truth.x == Approx(1).margin(.1));
  CHECK(truth.photons == Approx(1).margin(.1));
  CHECK(truth.median == Approx(scene.photons()).epsilon(.02));
  CHECK(report.warnings.empty());
}

TEST_CASE("without a camera standard errors are right, too, and photons are not given", "[detect]") {
  const Scene scene = GENERATE(stack(), plane(1.5, 14));
  DetectionReport report;
  const Detections found = scene.find({}, report);
  CHECK(against(scene, found).x == Approx(1).margin(.1));
  for (const PropertyColumn& property : found.properties) CHECK(property.name != "photons");
  // Fits follow the noise, most of all in the middle of a spot.
  REQUIRE(report.noise.has_value());
  CHECK(report.noise->slope == Approx(*scene.camera.gain).epsilon(.1));
  CHECK(std::abs(report.noise->slope - *scene.camera.gain) < 3 * report.noise->slope_error);
}

TEST_CASE("spots of single photons are weighted by the known camera, or by mean squares", "[detect]") {
  SpotFrameOptions optics;
  optics.shape = {20, 256, 256};
  optics.psf_sigma = {1.5, 1.5, 1.5};
  optics.background = 0.1;
  optics.peak = 8;
  const Scene scene(optics, {1, 0, 0}, 12, 17);
  DetectionReport report;
  CHECK(against(scene, scene.find(scene.camera, report)).x == Approx(1).margin(.1));
  CHECK(report.warnings.empty());
  CHECK(against(scene, scene.find({}, report)).x == Approx(1).margin(.15));
}

TEST_CASE("there is a warning if the noise contradicts the camera", "[detect]") {
  const Scene scene = stack();
  DetectionReport report;
  const auto doubts = [&](const CameraModel& known) {
    scene.find(known, report);
    return report.warnings;
  };
  CHECK(doubts({2, {}, {}}).empty());
  CHECK(doubts({2, 100, {}}).empty());
  REQUIRE(doubts({6, 100, 4}).size() == 1);
  CHECK_THAT(report.warnings[0], Contains("camera model says"));
  REQUIRE(doubts({6, {}, {}}).size() == 1);
  CHECK_THAT(report.warnings[0], Contains("detection.camera_gain is 6"));
  CHECK_THROWS_AS(doubts({0, {}, {}}), UsageError);
  CHECK_THROWS_AS(doubts({1, {}, -1}), UsageError);
}

TEST_CASE("the noise of residuals is estimated with coarse grey levels and with outliers", "[detect]") {
  const CameraModel camera{.3, 100, .5};
  auto all = samples(camera, true);
  const double rounding = 1.0 / 12;
  const detect::Noise coarse = detect::noise_line(detect::noise_sums(all));
  CHECK(coarse.base + coarse.slope * 103 == Approx(.9 + .25 + rounding).epsilon(.05));
  CHECK(coarse.slope == Approx(.3).epsilon(.15));
  for (std::size_t i = 0; i < all.size(); i += 50) all[i].square *= 50;
  const detect::Noise beside = detect::noise_line(detect::noise_sums(all));
  CHECK(beside.base + beside.slope * 103 == Approx(.9 + .25 + rounding).epsilon(.15));
}

TEST_CASE("known camera values are kept, the others follow from the noise", "[detect]") {
  const CameraModel camera{2, 100, 4};
  const detect::NoiseSums sums = detect::noise_sums(samples(camera, false));
  CHECK(sums.level() == Approx(122).margin(4));
  const auto at = [](const detect::Noise& line, double level) { return line.base + line.slope * level; };
  const detect::Noise whole = detect::noise_line(sums, {3, 50, 1});
  CHECK(at(whole, 50) == Approx(1));
  CHECK(at(whole, 150) == Approx(301));
  const detect::Noise slope = detect::noise_line(sums, {3, {}, {}});
  CHECK(slope.slope == 3);
  CHECK(at(slope, sums.level()) == Approx(sums.variance()));
  const detect::Noise point = detect::noise_line(sums, {{}, 100, 4});
  CHECK(at(point, 100) == Approx(16));
  CHECK(point.slope == Approx(2).epsilon(.05));
  CHECK(detect::noise_line({}, camera).slope == 2);

  const auto noise = detect::voxel_noise(sums, 1, 10);
  REQUIRE(noise.has_value());
  const CameraModel by_offset = tracking::camera_from_noise(*noise, {{}, 100, {}});
  CHECK(*by_offset.gain == Approx(2).epsilon(.1));
  CHECK(*by_offset.read_noise == Approx(4).epsilon(.1));
  const CameraModel by_read_noise = tracking::camera_from_noise(*noise, {2, {}, 4});
  CHECK(*by_read_noise.offset == Approx(100).epsilon(.01));
  const CameraModel alone = tracking::camera_from_noise(*noise, {2, {}, {}});
  CHECK(*alone.read_noise == 0);
  CHECK(*alone.offset == Approx(100 - 16.0 / 2).margin(.5));
}
