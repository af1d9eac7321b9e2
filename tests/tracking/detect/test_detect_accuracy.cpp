#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/spots.h"

namespace {

using namespace motes;
using motes::testing::Spot;
using motes::testing::SpotFrameOptions;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::DetectionReport;
using motes::tracking::Polarity;

const Execution kTwo{2};
constexpr double kGate = 2.5;

struct Scene {
  std::vector<Spot> truth;
  VolumeFrame frame;
};

Scene make_scene(const SpotFrameOptions& options, int spots, std::uint64_t seed) {
  Scene scene;
  scene.truth = motes::testing::random_spots(options.shape, spots, seed);
  scene.frame =
      motes::testing::poisson_frame(options.shape, expected_photons(options, scene.truth), seed + 1);
  return scene;
}

SpotFrameOptions at_snr(double snr, const Shape3& shape) {
  SpotFrameOptions options;
  options.shape = shape;
  options.peak = motes::testing::peak_of_snr(snr, options.background);
  return options;
}

VolumeFrame gaussian_noise(const Shape3& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(100, 7);
  std::vector<double> values(static_cast<std::size_t>(shape.voxels()));
  for (double& v : values) v = normal(random);
  return motes::testing::float_frame(shape, values);
}

DetectionOptions virus_options() {
  DetectionOptions options;
  options.radius_um = {2.05, 2.05, 1.65};  // about sqrt(3) times the PSF's sigma: best for strong noise
  return options;
}

}  // namespace

TEST_CASE("virus-like frames: accuracy with the number of spots known", "[detect]") {
  struct Target {
    double snr, jsc, rmse;
  };
  const Target target = GENERATE(Target{7, .94, .24}, Target{4, .935, .31}, Target{2, .82, .57});
  DetectionOptions options = virus_options();
  options.max_count = 1000;
  for (const std::uint64_t seed : {11, 23}) {
    const Scene scene = make_scene(at_snr(target.snr, {10, 512, 512}), 1000, seed);
    const auto score =
        motes::testing::score_spots(scene.truth, detect_spots(kTwo, scene.frame, options), {1, 1, 1}, kGate);
    INFO("snr " << target.snr << ", seed " << seed);
    CHECK(score.jsc >= target.jsc);
    CHECK(score.rmse_voxel <= target.rmse);
  }
}

TEST_CASE("the automatic threshold keeps spots of SNR 4 and more and little else", "[detect]") {
  const double snr = GENERATE(10.0, 7.0, 4.0);
  const int spots = GENERATE(5, 100, 500);
  const Scene scene = make_scene(at_snr(snr, {10, 256, 256}), spots, 32);
  const Detections found = detect_spots(kTwo, scene.frame, virus_options());
  const auto score = motes::testing::score_spots(scene.truth, found, {1, 1, 1}, kGate);
  INFO("snr " << snr << ", " << spots << " spots, " << found.size() << " found");
  CHECK(static_cast<int>(found.size()) - score.matched <= 3);
  // Places are random: of 500 spots some overlap too much to be separated.
  CHECK(score.matched >= (spots == 500 ? 0.9 : 0.96) * spots);
}

TEST_CASE("a warning says that faint spots are missed, and how to track them", "[detect]") {
  const auto [snr, warned] = GENERATE(table<double, bool>({{1.5, true}, {4, false}, {7, false}}));
  const Scene scene = make_scene(at_snr(snr, {10, 256, 256}), 100, 32);
  DetectionReport report;
  const std::size_t found = detect_spots(kTwo, scene.frame, virus_options(), &report).size();
  INFO("snr " << snr << ", " << found << " found");
  const bool told =
      std::any_of(report.warnings.begin(), report.warnings.end(), [](const std::string& warning) {
        return warning.find("others are probably missed") != std::string::npos &&
               warning.find("detection.false_positives_per_frame") != std::string::npos;
      });
  CHECK(told == warned);
}

TEST_CASE("pure noise gives almost no spots", "[detect]") {
  const Shape3 shape = GENERATE(Shape3{10, 256, 256}, Shape3{1, 512, 512}, Shape3{48, 96, 96});
  DetectionOptions options = virus_options();
  std::size_t false_spots = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    false_spots += detect_spots(kTwo, gaussian_noise(shape, seed), options).size();
    const VolumeFrame photons = motes::testing::poisson_frame(
        shape, std::vector<double>(static_cast<std::size_t>(shape.voxels()), 10.0), seed);
    false_spots += detect_spots(kTwo, photons, options).size();
    CHECK_FALSE(estimate_radius(kTwo, gaussian_noise(shape, seed), Polarity::bright).has_value());
    CHECK_FALSE(estimate_radius(kTwo, photons, Polarity::bright).has_value());
  }
  CHECK(false_spots <= 3);
}

TEST_CASE("dense spots do not raise the automatic threshold above themselves", "[detect]") {
  SpotFrameOptions options = at_snr(7, {48, 64, 64});
  options.psf_sigma = {2, 2, 2};
  std::vector<Spot> truth;
  for (int z = 4; z < 46; z += 6)
    for (int y = 4; y < 62; y += 6)
      for (int x = 4; x < 62; x += 6)
        truth.push_back({z + 0.3 * ((x + y) % 3), y + 0.2 * ((x + z) % 4), x + 0.25 * (z % 4)});
  const VolumeFrame frame = motes::testing::poisson_frame(options.shape, expected_photons(options, truth), 3);
  DetectionOptions detection;
  detection.radius_um = {2.8, 2.8, 2.8};
  const auto score =
      motes::testing::score_spots(truth, detect_spots(kTwo, frame, detection), {1, 1, 1}, kGate);
  CHECK(score.jsc > 0.95);
}

TEST_CASE("explicit threshold and count", "[detect]") {
  const Scene scene = make_scene(at_snr(7, {10, 128, 128}), 40, 77);
  DetectionOptions options = virus_options();
  DetectionReport report;
  const Detections automatic = detect_spots(kTwo, scene.frame, options, &report);
  const double threshold = report.threshold;
  CHECK(threshold > 0);
  CHECK(report.local_maxima > static_cast<std::int64_t>(automatic.size()));

  REQUIRE(automatic.properties.size() == 1);
  CHECK(automatic.properties[0].name == "score");
  for (const double score : automatic.properties[0].values) CHECK(score >= threshold);

  const double stricter =
      0.5 * (automatic.quality[0] + *std::max_element(automatic.quality.begin(), automatic.quality.end()));
  options.threshold = stricter;
  const Detections fewer = detect_spots(kTwo, scene.frame, options);
  CHECK(fewer.size() < automatic.size());
  for (const double quality : fewer.quality) CHECK(quality >= stricter);

  options.threshold = 1;
  options.max_count = 7;
  const Detections seven = detect_spots(kTwo, scene.frame, options);
  REQUIRE(seven.size() == 7);
  std::vector<double> sorted = automatic.quality;
  std::sort(sorted.rbegin(), sorted.rend());
  for (const double quality : seven.quality) CHECK(quality >= sorted[6]);
  CHECK(std::is_sorted(seven.z_um.begin(), seven.z_um.end(), [](double a, double b) { return a + 1 < b; }));

  options.threshold.reset();
  options.max_count = 3000;
  CHECK(detect_spots(kTwo, scene.frame, options, &report).size() ==
        static_cast<std::size_t>(std::min<std::int64_t>(3000, report.local_maxima)));
  options.max_count = 1 << 30;
  CHECK(static_cast<std::int64_t>(detect_spots(kTwo, scene.frame, options, &report).size()) ==
        report.local_maxima);
}

TEST_CASE("the radius is estimated within 15 %", "[detect]") {
  const double sigma = GENERATE(1.1, 1.4, 2.1, 3.2, 4.2);
  const double snr = GENERATE(10.0, 4.0);
  const bool flat = GENERATE(false, true);
  const double radius = sigma * std::sqrt(flat ? 2.0 : 3.0);
  SpotFrameOptions options = at_snr(snr, flat ? Shape3{1, 300, 300} : Shape3{40, 120, 120});
  options.psf_sigma = {sigma, sigma, sigma};
  const Scene scene = make_scene(options, flat ? 40 : 25, 5);
  const auto found = estimate_radius(kTwo, scene.frame, Polarity::bright);
  INFO("radius " << radius << ", snr " << snr << ", 2D " << flat);
  REQUIRE(found.has_value());
  CHECK(found->x == Approx(radius).epsilon(0.15));
}

TEST_CASE("the radius of spots in anisotropic voxels, and of dark ones", "[detect]") {
  SpotFrameOptions options = at_snr(7, {30, 150, 150});
  // Voxels of 0.2: one, two and three times the sigma in x and y.
  const double sigma_z = GENERATE(1.0, 2.0, 3.0);
  options.psf_sigma = {2, 2, sigma_z};
  options.peak *= GENERATE(1, -1);
  options.background = 150;
  Scene scene = make_scene(options, 30, 9);
  scene.frame.voxel_um = {0.1, 0.1, 0.2};
  const auto found = estimate_radius(kTwo, scene.frame, options.peak > 0 ? Polarity::bright : Polarity::dark);
  REQUIRE(found.has_value());
  CHECK(found->x == Approx(0.1 * 2 * std::sqrt(3.0)).epsilon(0.2));
  CHECK(found->y == found->x);
  CHECK(found->z == Approx(0.2 * sigma_z * std::sqrt(3.0)).epsilon(0.2));
}
