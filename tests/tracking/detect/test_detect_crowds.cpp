// Objects side by side that fill much of a frame, and frames clipped at 0 by a filter.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/choice/selection.h"

namespace {

using namespace motes;
using motes::testing::Field;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::DetectionOptions;
using tracking::detect::clear_of_the_rest;
using tracking::detect::level_of_alike;

const Execution kTwo{2};
constexpr double kRadius = 7;

struct Discs {
  std::vector<Spot> truth;
  VolumeFrame frame;
};

/// Flat discs in hexagonal order, `spacing` radii apart, within 90 voxels of the middle of a plane or
/// everywhere, blurred by a voxel, with shot noise.
Discs raft(double spacing, bool everywhere, std::uint64_t seed) {
  const Shape3 shape{1, 256, 256};
  constexpr double kMiddle = 127.5;
  Random random(seed);
  Discs made;
  Field light(static_cast<std::size_t>(shape.voxels()), 0.0);
  const double step = spacing * kRadius, row = step * std::sqrt(0.75);
  for (int j = -16; j <= 16; ++j)
    for (int i = -16; i <= 16; ++i) {
      const double y = kMiddle + j * row + 0.15 * random.normal();
      const double x = kMiddle + (i + 0.5 * (j & 1)) * step + 0.15 * random.normal();
      if (!everywhere && std::hypot(y - kMiddle, x - kMiddle) > 90) continue;
      if (std::abs(y - kMiddle) > kMiddle + kRadius || std::abs(x - kMiddle) > kMiddle + kRadius) continue;
      made.truth.push_back({0, y, x});
      testing::each_voxel(shape, [&](std::size_t v, double, double vy, double vx) {
        if (std::hypot(vy - y, vx - x) < kRadius) light[v] = 180;
      });
    }
  light = testing::smoothed(light, shape, {1, 1, 0});
  for (double& v : light) v += 40;
  made.frame = testing::float_frame(shape, testing::photons(light, random));
  return made;
}

/// The share of discs (with middles at least 7 voxels inside the plane) that have a detection within 4
/// voxels, and the number of detections without a disc.
struct Found {
  double share = 0;
  int wrong = 0;
};

Found found_of(const Discs& made, const Detections& found) {
  const auto near = [](const Spot& spot, double y, double x) {
    return std::hypot(spot.y - y, spot.x - x) < 4;
  };
  Found result;
  int inside = 0, matched = 0;
  for (const Spot& spot : made.truth) {
    if (std::min({spot.y, spot.x, 255 - spot.y, 255 - spot.x}) < kRadius) continue;
    ++inside;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (near(spot, found.y_um[i], found.x_um[i])) {
        ++matched;
        break;
      }
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    if (std::none_of(made.truth.begin(), made.truth.end(),
                     [&](const Spot& s) { return near(s, found.y_um[i], found.x_um[i]); }) &&
        std::min({found.y_um[i], found.x_um[i], 255 - found.y_um[i], 255 - found.x_um[i]}) > kRadius)
      ++result.wrong;
  result.share = static_cast<double>(matched) / inside;
  return result;
}

/// A difference of Gaussians of shot noise with `spots` spots, clipped at 0.
Discs filtered(const Shape3& shape, int spots, std::uint64_t seed) {
  Random random(seed);
  testing::Scene scene;
  const double flat = shape.nz == 1 ? 0 : 1;
  scene.shape = shape;
  scene.sigma = {2, 2, 2};
  scene.background = 30;
  scene.peak = 60;
  scene.spots = testing::places(shape, scene.sigma, spots, 3, 4.5, random);
  scene.brightness.assign(scene.spots.size(), 1);
  scene.width.assign(scene.spots.size(), 1);
  scene.light.assign(static_cast<std::size_t>(shape.voxels()), 30);
  testing::draw_spots(scene);
  const Field noisy = testing::photons(scene.light, random);
  const Field fine = testing::smoothed(noisy, shape, {1, 1, flat});
  const Field coarse = testing::smoothed(noisy, shape, {4, 4, 4 * flat});
  Field values(fine.size());
  for (std::size_t i = 0; i < fine.size(); ++i) values[i] = std::max(0.0, fine[i] - coarse[i]);
  return {scene.spots, testing::float_frame(shape, values)};
}

/// `spots` spots on wide, bright lumps, from which a smoothed copy was subtracted; clipped at 0.
Discs on_lumps(int spots, double sigma, double peak, std::uint64_t seed) {
  const Shape3 shape{1, 256, 256};
  Random random(seed);
  testing::Scene scene;
  scene.shape = shape;
  scene.sigma = {sigma, sigma, sigma};
  scene.peak = peak;
  scene.spots = testing::places(shape, scene.sigma, spots, 3, 6, random);
  for (const double lump : testing::texture(shape, {6 * sigma + 4, 6 * sigma + 4, 0}, random))
    scene.light.push_back(48 + scene.peak * std::pow(std::max(0.0, lump), 1.5));
  testing::draw_spots(scene);
  Field noisy = testing::photons(scene.light, random);
  for (double& value : noisy) value += 2 * random.normal();
  const Field coarse = testing::smoothed(noisy, shape, {4 * sigma + 8, 4 * sigma + 8, 0});
  for (std::size_t i = 0; i < noisy.size(); ++i) noisy[i] = std::max(0.0, std::round(noisy[i] - coarse[i]));
  return {scene.spots, testing::float_frame(shape, noisy)};
}

}  // namespace

TEST_CASE("discs side by side in a plane are all found without any option", "[detect]") {
  const double spacing = GENERATE(2.0, 2.3);
  const bool everywhere = GENERATE(false, true);
  for (const std::uint64_t seed : {1U, 2U}) {
    const Discs made = raft(spacing, everywhere, seed);
    const auto sizes = tracking::estimate_sizes(kTwo, made.frame, tracking::Polarity::bright);
    REQUIRE(sizes);
    DetectionOptions options;
    options.radius_um = sizes->radius_um;
    options.largest_radius_um = sizes->largest_radius_um;
    const Found found = found_of(made, detect_spots(kTwo, made.frame, options));
    CAPTURE(spacing, everywhere, seed, sizes->radius_um.x, found.share, found.wrong);
    CHECK(found.share >= 0.97);
    CHECK(found.wrong <= 0.03 * static_cast<double>(made.truth.size()));
  }
}

TEST_CASE("most values may be above a clear gap if the gap is twofold", "[detect]") {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(1 + 0.05 * i);  // up to 1.95
  for (int i = 0; i < 100; ++i) values.push_back(3.7 + 0.1 * i);
  CHECK_FALSE(clear_of_the_rest(values));
  for (std::size_t i = 20; i < values.size(); ++i) values[i] += 3;
  CHECK(clear_of_the_rest(values) == 6.7);
  values.erase(values.begin(), values.begin() + 6);
  CHECK_FALSE(clear_of_the_rest(values));  // fourteen below are too few
}

TEST_CASE("similar values are not taken for noise clipped at 0", "[detect]") {
  std::vector<double> alike, noise;
  for (int i = 0; i < 150; ++i) {
    alike.push_back(10 + 0.1 * i);
    noise.push_back(0.2 * i);
  }
  CHECK(*level_of_alike(alike, 2, 3) == Approx(8.75));
  CHECK(*level_of_alike(alike, 2, 9) == 9);
  CHECK_FALSE(level_of_alike(alike, 2, 18));  // noise reaches the median
  CHECK_FALSE(level_of_alike(std::vector<double>(alike.begin(), alike.begin() + 40), 2, 3));  // too few
  CHECK_FALSE(level_of_alike(noise, 2, 3));
  CHECK_FALSE(level_of_alike({}, 2, 3));
  std::vector<double> much_noise, many_alike;
  for (int i = 0; i < 100'000; ++i) much_noise.push_back(1e-3 * i), many_alike.push_back(10 + 1e-4 * i);
  CHECK_FALSE(level_of_alike(much_noise, 2, 3));
  CHECK(level_of_alike(many_alike, 2, 3));
  std::vector<double> nearly_alike(780, 20.0), spread;
  nearly_alike.insert(nearly_alike.begin(), 30, 5.0);             // 3.7 %, where noise has at least 10 %
  std::fill(nearly_alike.end() - 200, nearly_alike.end(), 30.0);  // the upper quarter is as in noise
  for (const double v : nearly_alike) spread.push_back(v);
  std::fill(spread.begin() + 30, spread.begin() + 240, 13.0);  // the lower quartile is as in noise
  CHECK(level_of_alike(nearly_alike, 2, 3));
  CHECK_FALSE(level_of_alike(spread, 2, 3));
}

TEST_CASE("values that hardly exceed their median are alike, in spite of low ones", "[detect]") {
  std::vector<double> values(20, 1.0);  // as many as in noise
  for (int i = 0; i < 180; ++i) values.push_back(10 + 0.03 * i);
  const auto far_above = [&](int n, double by) {
    std::vector<double> some = values;
    std::fill(some.end() - n, some.end(), by * some[some.size() / 2]);
    return some;
  };
  CHECK(level_of_alike(far_above(20, 1.35), 2, 3));  // a tenth: half as many as in noise of one wavelength
  CHECK_FALSE(level_of_alike(far_above(40, 1.6), 2, 3));
  CHECK(level_of_alike(far_above(40, 1.4), 2, 3));  // as many as in noise, but none as high
  CHECK(level_of_alike(far_above(30, 1.6), 1, 3));
  CHECK_FALSE(level_of_alike(far_above(30, 1.6), 3, 3));
}

TEST_CASE("noise clipped at 0 by a filter has no spots, and spots in it are found", "[detect]") {
  const bool plane = GENERATE(false, true);
  const Shape3 shape = plane ? Shape3{1, 256, 256} : Shape3{24, 128, 128};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CAPTURE(plane, seed);
    const Discs empty = filtered(shape, 0, seed);
    CHECK_FALSE(tracking::estimate_sizes(kTwo, empty.frame, tracking::Polarity::bright));
    for (const double sigma : {1.0, 1.4, 2.0}) {
      DetectionOptions options;
      const double radius = std::sqrt(plane ? 2.0 : 3.0) * sigma;
      options.radius_um = {radius, radius, radius};
      CAPTURE(sigma);
      CHECK(detect_spots(kTwo, empty.frame, options).size() == 0);
    }
    const Discs made = filtered(shape, 80, seed);
    const auto sizes = tracking::estimate_sizes(kTwo, made.frame, tracking::Polarity::bright);
    REQUIRE(sizes);
    DetectionOptions options;
    options.radius_um = sizes->radius_um;
    options.largest_radius_um = sizes->largest_radius_um;
    const Detections found = detect_spots(kTwo, made.frame, options);
    const auto score = testing::score_spots(made.truth, found, {1, 1, 1}, 3);
    CAPTURE(found.size(), score.matched);
    CHECK(2.0 * score.matched / static_cast<double>(made.truth.size() + found.size()) >= 0.97);
  }
}

TEST_CASE("spots on lumps, after a smoothed background is subtracted, are found or warned of", "[detect]") {
  DetectionOptions options;
  options.radius_um = {std::sqrt(2.0), std::sqrt(2.0), std::sqrt(2.0)};
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const Discs made = on_lumps(90, 1, 68, seed);
    tracking::DetectionReport report;
    const Detections found = detect_spots(kTwo, made.frame, options, &report);
    const auto score = testing::score_spots(made.truth, found, {1, 1, 1}, 1.5);
    CAPTURE(seed, found.size(), score.matched, report.warnings);
    CHECK((score.matched > 60 || !report.warnings.empty()));
  }
  const double radius = std::sqrt(2.0) * 1.3;
  options.radius_um = {radius, radius, radius};
  for (const std::uint64_t seed : {1U, 3U, 5U, 6U}) {  // lowered by clipping, but far over the noise nearby
    CAPTURE(seed);
    const Discs made = on_lumps(90, 1.3, 34, seed);
    const Detections found = detect_spots(kTwo, made.frame, options);
    const auto score = testing::score_spots(made.truth, found, {1, 1, 1}, 2.5);
    CAPTURE(found.size(), score.matched);
    CHECK(2.0 * score.matched / static_cast<double>(made.truth.size() + found.size()) >= 0.82);
  }
}

namespace {

/// Mean numbers of false and of missed spots in 40 frames of 30 spots in white noise, if `rate` is asked for.
struct Errors {
  double wrong = 0, missed = 0;
};
constexpr int kRateFrames = 40;

Errors errors_at_rate(double rate, const Shape3& shape, double sigma, const Vec3& radius_um) {
  Errors out;
  for (std::uint64_t seed = 1; seed <= kRateFrames; ++seed) {
    Random random(seed);
    testing::Scene scene;
    scene.shape = shape;
    scene.sigma = {sigma, sigma, 1};
    scene.peak = 80;
    scene.spots = testing::places(scene.shape, scene.sigma, 30, 3, 6, random);
    scene.light.assign(static_cast<std::size_t>(scene.shape.voxels()), 100);
    testing::draw_spots(scene);
    for (double& v : scene.light) v += 10 * random.normal();
    DetectionOptions options;
    options.radius_um = radius_um;
    options.false_positives_per_frame = rate;
    const Detections found = detect_spots(kTwo, testing::float_frame(scene.shape, scene.light), options);
    const auto score = testing::score_spots(scene.spots, found, {1, 1, 1}, 2.5);
    out.wrong += (static_cast<double>(found.size()) - score.matched) / kRateFrames;
    out.missed += (static_cast<double>(scene.spots.size()) - score.matched) / kRateFrames;
  }
  return out;
}

}  // namespace

TEST_CASE("a given rate of false spots is kept in planes with spots, and these are found", "[detect]") {
  const double rate = GENERATE(3.0, 10.0);
  const auto [wrong, missed] = errors_at_rate(rate, {1, 256, 256}, 1.5, {2.1, 2.1, 2.1});
  const double chance = 3 * std::sqrt(rate / kRateFrames);
  CAPTURE(rate, wrong, missed);
  CHECK(wrong >= 0.8 * rate - chance);
  CHECK(wrong <= 1.2 * rate + chance);
  CHECK(missed < 0.5);
}

TEST_CASE("a given rate of false spots is kept in stacks with spots", "[detect]") {
  constexpr double kRate = 10;
  const double wrong = errors_at_rate(kRate, {24, 128, 128}, 1.2, {2.05, 2.05, 1.65}).wrong;
  CAPTURE(wrong);
  CHECK(wrong >= 0.8 * kRate);  // if too few maxima get a second look, 7.3
  CHECK(wrong <= 1.2 * kRate);
}

TEST_CASE("remains of noise after compression are not taken for spots beside many spots", "[detect]") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Random random(seed);
    testing::Scene scene;
    scene.shape = {1, 256, 256};
    scene.sigma = {2, 2, 1};
    scene.peak = 50;
    scene.spots = testing::places(scene.shape, scene.sigma, 120, 3, 4, random);
    scene.light.assign(static_cast<std::size_t>(scene.shape.voxels()), 30);
    testing::draw_spots(scene);
    Field counts = testing::photons(scene.light, random);
    for (double& v : counts) v *= 2;
    const Field values = testing::block_compressed(counts, scene.shape, 20);
    DetectionOptions options;
    options.radius_um = {2.8, 2.8, 2.8};
    const Detections found = detect_spots(kTwo, testing::float_frame(scene.shape, values), options);
    const auto score = testing::score_spots(scene.spots, found, {1, 1, 1}, 3);
    CAPTURE(seed, found.size(), score.matched, scene.spots.size());
    CHECK(2.0 * score.matched / static_cast<double>(scene.spots.size() + found.size()) >= 0.98);
  }
}

TEST_CASE("spots among voxels that are mostly 0 are found, few or many, with any filter", "[detect]") {
  const bool counted = GENERATE(true, false);  // single photons, or noise of which a tenth remains
  const int spots = GENERATE(20, 400);
  testing::Scene scene;
  scene.shape = {20, 80, 80};
  scene.sigma = {1.3, 1.3, 1.3};
  scene.peak = counted ? 25 : 80;
  Random random(spots);
  scene.spots = testing::places(scene.shape, scene.sigma, spots, 2, 4, random);
  scene.light.assign(static_cast<std::size_t>(scene.shape.voxels()), counted ? .03 : 0);
  testing::draw_spots(scene);
  Field values = counted ? testing::photons(scene.light, random) : scene.light;
  if (!counted)
    for (double& v : values) v = std::round(std::max(0.0, v - 13 + 10 * random.normal()));
  const VolumeFrame frame = testing::float_frame(scene.shape, values);
  for (const double sigma : {.95, 1.05, 1.3}) {
    DetectionOptions options;
    options.radius_um = {std::sqrt(3.0) * sigma, std::sqrt(3.0) * sigma, std::sqrt(3.0) * sigma};
    const Detections found = tracking::detect_spots(kTwo, frame, options);
    const auto score = testing::score_spots(scene.spots, found, {1, 1, 1}, 2);
    CAPTURE(counted, spots, sigma, score.matched, found.size());
    CHECK(testing::f1_of(score, scene.spots.size(), found.size()) >= .97);
  }
}
