/// Fitted positions compared with the Cramer-Rao bound, and their standard errors.

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/spots.h"
#include "tracking/detect/fit/gaussian_fit.h"

namespace {

using namespace motes;
using motes::testing::Spot;
using motes::testing::SpotFrameOptions;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::Refine;
namespace detect = motes::tracking::detect;

const Execution kTwo{2};

DetectionOptions fitting(const Vec3& sigma) {
  DetectionOptions options;
  const double d = std::sqrt(3.0);
  options.radius_um = {d * sigma.x, d * sigma.y, d * sigma.z};
  options.refine = Refine::fit;
  return options;
}

const std::vector<double>& column(const Detections& found, const std::string& name) {
  const auto it = std::find_if(found.properties.begin(), found.properties.end(),
                               [&](const PropertyColumn& c) { return c.name == name; });
  REQUIRE(it != found.properties.end());
  return it->values;
}

/// 400 spots on a grid, away from voxel centres.
std::vector<Spot> grid_of_spots() {
  std::vector<Spot> spots;
  const std::vector<Spot> off = motes::testing::random_spots({2, 2, 2}, 400, 9);
  std::size_t k = 0;
  for (int y = 8; y < 248; y += 12)
    for (int x = 8; x < 248; x += 12, ++k) spots.push_back({11 + off[k].z, y + off[k].y, x + off[k].x});
  return spots;
}

}  // namespace

TEST_CASE("fits of isolated spots reach the bound, and their errors are right", "[detect]") {
  // Cramer-Rao bound of x, voxels: sigma 1.5, background 10 photons, height and background unknown.
  struct Case {
    double snr, bound;
  };
  const Case c = GENERATE(Case{7, .043}, Case{4, .087}, Case{2, .202});
  SpotFrameOptions scene;
  scene.shape = {24, 256, 256};
  scene.psf_sigma = {1.5, 1.5, 1.5};
  scene.peak = motes::testing::peak_of_snr(c.snr, scene.background);
  const std::vector<Spot> truth = grid_of_spots();
  const VolumeFrame frame = motes::testing::poisson_frame(scene.shape, expected_photons(scene, truth), 21);
  DetectionOptions options = fitting(scene.psf_sigma);
  options.max_count = static_cast<std::int64_t>(truth.size());
  const Detections found = detect_spots(kTwo, frame, options);
  double square = 0, pull = 0;
  int n = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const Spot& t : truth) {
      if (std::hypot(found.x_um[i] - t.x, found.y_um[i] - t.y, found.z_um[i] - t.z) > 2.5) continue;
      const double e = found.x_um[i] - t.x;
      square += e * e;
      pull += std::pow(e / column(found, "error_x_um")[i], 2);
      ++n;
    }
  }
  INFO("snr " << c.snr);
  REQUIRE(n >= 395);
  CHECK(std::sqrt(square / n) < 1.15 * c.bound);
  CHECK(std::sqrt(pull / n) == Approx(1).margin(.12));
}

TEST_CASE("spots side by side are fitted together", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {15, 25, 31};
  scene.psf_sigma = {1.5, 1.5, 1.5};
  const std::vector<Spot> spots{{7, 12, 12.2}, {7.2, 12.1, 16.4}};
  const VolumeFrame frame = motes::testing::float_frame(scene.shape, expected_photons(scene, spots));
  DetectionOptions options = fitting(scene.psf_sigma);
  options.max_count = 2;
  const Detections fit = detect_spots(kTwo, frame, options);
  options.refine = Refine::parabola;
  const Detections parabola = detect_spots(kTwo, frame, options);
  const auto rms = [&](const Detections& found) {
    return motes::testing::score_spots(spots, found, {1, 1, 1}, 2).rmse_voxel;
  };
  REQUIRE(fit.size() == 2);
  CHECK(rms(fit) < .01);
  CHECK(rms(fit) < .2 * rms(parabola));
  CHECK(fit.radius_um[0] == Approx(std::sqrt(3.0) * 1.5).epsilon(.02));
}

TEST_CASE("two spots with one maximum are split, single and large ones are not", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {16, 200, 200};
  scene.psf_sigma = {1.5, 1.5, 1.5};
  scene.peak = motes::testing::peak_of_snr(7, scene.background);
  std::vector<Spot> singles, spots;
  for (int y = 10; y < 195; y += 20)
    for (int x = 10; x < 195; x += 20) singles.push_back({7.3, y + .2, x + .4});
  spots = singles;
  for (std::size_t i = 0; i < singles.size(); i += 10)
    spots.push_back({singles[i].z, singles[i].y, singles[i].x + 2.7});
  const auto frame_of = [&](const std::vector<Spot>& all) {
    return motes::testing::poisson_frame(scene.shape, expected_photons(scene, all), 8);
  };
  DetectionOptions options = fitting(scene.psf_sigma);
  CHECK(detect_spots(kTwo, frame_of(singles), options).size() == singles.size());
  const Detections found = detect_spots(kTwo, frame_of(spots), options);
  const auto score = motes::testing::score_spots(spots, found, {1, 1, 1}, 1.2);
  CHECK(score.matched >= static_cast<int>(spots.size()) - 1);
  CHECK(found.size() <= spots.size() + 1);
  CHECK(score.rmse_voxel < .15);
  options.refine = Refine::parabola;
  CHECK(detect_spots(kTwo, frame_of(spots), options).size() <= singles.size() + 2);
  // A given count is not exceeded.
  options = fitting(scene.psf_sigma);
  options.max_count = static_cast<std::int64_t>(singles.size());
  CHECK(detect_spots(kTwo, frame_of(spots), options).size() == singles.size());
}

TEST_CASE("pairs are split where two in five maxima are pairs", "[detect]") {
  std::vector<Spot> truth = grid_of_spots();
  const std::size_t single = truth.size();
  for (std::size_t i = 0; i < single; ++i) {
    const double turn = static_cast<double>(i);
    if (i % 5 < 2)
      truth.push_back({truth[i].z, truth[i].y + 3.2 * std::sin(turn), truth[i].x + 3.2 * std::cos(turn)});
  }
  SpotFrameOptions scene;
  scene.shape = {24, 256, 256};
  scene.psf_sigma = {1.5, 1.5, 1.5};
  scene.peak = motes::testing::peak_of_snr(7, scene.background);
  const VolumeFrame frame = motes::testing::poisson_frame(scene.shape, expected_photons(scene, truth), 31);
  const Detections found = detect_spots(kTwo, frame, fitting(scene.psf_sigma));
  const auto score = motes::testing::score_spots(truth, found, {1, 1, 1}, 1.5);
  INFO(found.size() << " found of " << truth.size());
  CHECK(score.matched >= 0.97 * static_cast<double>(truth.size()));
  CHECK(static_cast<double>(found.size()) <= 1.01 * static_cast<double>(truth.size()));
}

TEST_CASE("elongated spots are flagged, round ones are not", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {16, 200, 200};
  scene.psf_sigma = {1.5, 1.5, 1.5};
  scene.peak = motes::testing::peak_of_snr(7, scene.background);
  std::vector<Spot> round;
  for (int y = 10; y < 195; y += 20)
    for (int x = 10; x < 195; x += 20) round.push_back({7.3, y + .2, x + .4});
  std::vector<double> light = expected_photons(scene, round);
  SpotFrameOptions bar = scene;
  bar.psf_sigma = {3, 1.5, 1.5};
  bar.background = 0;
  const std::vector<Spot> bars{{8, 20, 20}, {8, 100, 100}, {7.5, 180, 60}};
  const std::vector<double> more = expected_photons(bar, bars);
  for (std::size_t i = 0; i < light.size(); ++i) light[i] += more[i];
  const Detections found =
      detect_spots(kTwo, motes::testing::poisson_frame(scene.shape, light, 9), fitting(scene.psf_sigma));
  int flagged = 0, wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool is_bar = std::any_of(bars.begin(), bars.end(), [&](const Spot& b) {
      return std::hypot(found.x_um[i] - b.x, found.y_um[i] - b.y) < 3;
    });
    if (column(found, "elongated")[i] == 0) continue;
    (is_bar ? flagged : wrong) += 1;
    CHECK(column(found, "elongation")[i] > 1.3);
  }
  CHECK(flagged == 3);
  CHECK(wrong <= 1);
}

TEST_CASE("a fit that diverges is flagged and keeps the parabola's position", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {9, 24, 24};
  scene.peak = -9;  // a dark spot, fitted as a bright one
  const VolumeFrame frame = motes::testing::float_frame(scene.shape, expected_photons(scene, {{4, 12, 12}}));
  const detect::Filter filter = detect::make_filter(scene.shape, {1, 1, 1}, {2.6, 2.6, 2.6});
  const std::vector<detect::FitStart> starts{{{12, 12, 4}, 5}};
  const auto fits = detect::fit_spots(kTwo, frame, filter, starts).spots;
  REQUIRE(fits.size() == 1);
  CHECK_FALSE(fits[0].good);
  CHECK(fits[0].place == detect::Place{12, 12, 4});
  CHECK(std::isnan(fits[0].error[0]));
}

TEST_CASE("a single plane and large spots are fitted too", "[detect]") {
  SpotFrameOptions scene;
  SECTION("single plane") {
    scene.shape = {1, 40, 50};
    scene.psf_sigma = {1.5, 1.5, 1};
  }
  SECTION("binned") {
    scene.shape = {40, 60, 60};
    scene.psf_sigma = {5, 5, 4};
  }
  const double z = scene.shape.nz == 1 ? 0 : 20.3;
  const std::vector<Spot> spots{{z, 20.3, 22.7}};
  const VolumeFrame frame = motes::testing::poisson_frame(scene.shape, expected_photons(scene, spots), 4);
  DetectionOptions options = fitting(scene.psf_sigma);
  options.max_count = 1;
  const Detections found = detect_spots(kTwo, frame, options);
  REQUIRE(found.size() == 1);
  CHECK(column(found, "fitted")[0] == 1);
  CHECK(std::abs(found.x_um[0] - 22.7) < 5 * column(found, "error_x_um")[0]);
  CHECK(std::abs(found.z_um[0] - z) <= 5 * column(found, "error_z_um")[0]);
  CHECK(column(found, "error_x_um")[0] < .3);
}

TEST_CASE("large spots that touch are separated unless the parabola is asked for", "[detect]") {
  SpotFrameOptions scene;
  scene.shape = {1, 300, 300};
  scene.psf_sigma = {4, 4, 1};
  scene.peak = motes::testing::peak_of_snr(7, scene.background);
  std::vector<Spot> truth;
  for (int y = 30; y < 290; y += 48)
    for (int x = 30; x < 290; x += 48) truth.push_back({0, y + .2, x + .4});
  const std::size_t single = truth.size();
  for (std::size_t i = 0; i < single; i += 4) truth.push_back({0, truth[i].y + 5, truth[i].x + 6});
  const VolumeFrame frame = motes::testing::poisson_frame(scene.shape, expected_photons(scene, truth), 12);
  DetectionOptions options = fitting(scene.psf_sigma);
  options.radius_um = {std::sqrt(2.0) * 4, std::sqrt(2.0) * 4, 1};
  options.refine = Refine::automatic;
  const Detections found = detect_spots(kTwo, frame, options);
  CHECK(found.size() == truth.size());
  CHECK(motes::testing::score_spots(truth, found, {1, 1, 1}, 1).matched == static_cast<int>(truth.size()));
  options.refine = Refine::parabola;
  CHECK(detect_spots(kTwo, frame, options).size() <= single);
}
