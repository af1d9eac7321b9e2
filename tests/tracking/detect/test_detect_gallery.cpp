/// Spots without a given threshold, in pictures like those of microscopes.

#include <algorithm>
#include <cmath>
#include <map>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"

namespace {

using namespace motes;
using motes::testing::Picture;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::Polarity;

const Execution kTwo{2};

double dimensions(const Shape3& s) {
  return static_cast<double>((s.nx > 1 ? 1 : 0) + (s.ny > 1 ? 1 : 0) + (s.nz > 1 ? 1 : 0));
}

DetectionOptions options_for(const Picture& picture) {
  const double factor = std::sqrt(dimensions(picture.frame.shape));
  const Vec3& sigma = picture.psf_sigma;
  DetectionOptions options;
  options.radius_um = {factor * sigma.x, factor * sigma.y, factor * sigma.z};
  options.polarity = picture.dark ? Polarity::dark : Polarity::bright;
  return options;
}

double f1_with(const Picture& picture, const DetectionOptions& options) {
  const Detections found = detect_spots(kTwo, picture.frame, options);
  const Vec3& sigma = picture.psf_sigma;
  const double gate = std::max(2.0, 1.5 * std::max({sigma.x, sigma.y, sigma.z}));
  return motes::testing::f1_of(motes::testing::score_spots(picture.truth, found, {1, 1, 1}, gate),
                               picture.truth.size(), found.size());
}

/// Sets the radii estimated from the picture itself.
bool estimate_into(const Picture& picture, DetectionOptions& options) {
  const auto sizes = estimate_sizes(kTwo, picture.frame, options.polarity);
  if (!sizes) return false;
  options.radius_um = sizes->radius_um;
  options.largest_radius_um = sizes->largest_radius_um;
  return true;
}

/// The least F1: 0.99, or less for crowds, in which spots overlap too much, and for known weaknesses.
double least_f1(const std::string& name, bool estimated) {
  static const std::map<std::string, double> known{
      {"pairs", .85},      {"sharp-cell", .93},      {"filaments", .88},  {"large", .93},
      {"one-spot", .66},   {"dense-.001", .94},      {"dense-.005", .80}, {"dense-.005-tiny", .90},
      {"plain-snr2", .97}, {"autofluorescence", .97}};
  // A single radius cannot describe these.
  if (name.starts_with("sizes-")) return estimated ? .95 : .75;
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  return estimated ? .97 : .98;
}

}  // namespace

TEST_CASE("spots of the gallery are found with the radius given", "[detect]") {
  const std::string name = GENERATE(from_range(motes::testing::gallery_names()));
  const Picture picture = motes::testing::make_picture(name, 1, 3);
  INFO(name);
  CHECK(f1_with(picture, options_for(picture)) >= least_f1(name, false));
}

TEST_CASE("spots of the gallery are found without any option", "[detect]") {
  const std::string name = GENERATE(
      "plain-snr3", "smoothed", "photon-counting", "hot-voxels", "outliers-100x", "autofluorescence",
      "single-plane", "coarse-z", "elongated", "tiny", "dark-spots", "sizes-4-to-1", "sizes-3-to-1",
      "sizes-mixed", "empty-smoothed", "empty-photon-counting", "empty-sharp-cell", "empty-camera-columns");
  const Picture picture = motes::testing::make_picture(name, 1, 4);
  DetectionOptions options = options_for(picture);
  const Vec3 given = options.radius_um;
  INFO(name);
  if (!estimate_into(picture, options)) {
    CHECK(picture.truth.empty());
    return;
  }
  const bool several = name.starts_with("sizes-");
  if (!several) {
    CHECK(options.radius_um.x == Approx(given.x).epsilon(name == "smoothed" ? .25 : .1));
    CHECK_FALSE(options.largest_radius_um.has_value());
  }
  CHECK(f1_with(picture, options) >= least_f1(name, true));
}

TEST_CASE("pairs with one maximum are found by the fit", "[detect]") {
  const Picture picture = motes::testing::make_picture("pairs", 1, 3);
  DetectionOptions options = options_for(picture);
  options.refine = motes::tracking::Refine::fit;
  CHECK(f1_with(picture, options) >= .98);
}

TEST_CASE("spots of two sizes have their own radii", "[detect]") {
  const Picture picture = motes::testing::make_picture("sizes-4-to-1", 1, 4);
  DetectionOptions options = options_for(picture);
  REQUIRE(estimate_into(picture, options));
  REQUIRE(options.largest_radius_um.has_value());
  const Detections found = detect_spots(kTwo, picture.frame, options);
  int right = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t t = 0; t < picture.truth.size(); ++t) {
      const motes::testing::Spot& spot = picture.truth[t];
      if (std::hypot(found.x_um[i] - spot.x, found.y_um[i] - spot.y, found.z_um[i] - spot.z) > 2) continue;
      // As in the recipe of the picture.
      const double radius = std::sqrt(3.0) * 1.5 * (t % 3 == 0 ? 3 : 0.75);
      if (std::abs(std::log(found.radius_um[i] / radius)) < .35) ++right;
    }
  CHECK(right >= 0.9 * static_cast<double>(picture.truth.size()));
  const Detections again = detect_spots(Execution{1}, picture.frame, options);
  CHECK(again.x_um == found.x_um);
  CHECK(again.radius_um == found.radius_um);
}

TEST_CASE("a given rate of false spots is kept on noise of four kinds", "[detect]") {
  const std::string name =
      GENERATE("empty-gaussian-noise-float", "empty-plain-snr7", "empty-smoothed", "empty-single-plane");
  const double rate = GENERATE(1.0, 10.0);
  constexpr int kFrames = 32;
  double found = 0;
  for (int seed = 1; seed <= kFrames; ++seed) {
    const Picture picture = motes::testing::make_picture(name, 1, static_cast<std::uint64_t>(seed));
    DetectionOptions options = options_for(picture);
    options.false_positives_per_frame = rate;
    found += static_cast<double>(detect_spots(kTwo, picture.frame, options).size()) / kFrames;
  }
  INFO(name << ", rate " << rate << ", found " << found);
  // A fifth, and three times the statistical error of this many frames, since there are eight checks.
  const double chance = 3 * std::sqrt(rate / kFrames);
  CHECK(found >= 0.8 * rate - chance);
  CHECK(found <= 1.2 * rate + chance);
}

TEST_CASE("a given rate of false spots is kept if shot noise grows fourfold along the frame", "[detect]") {
  namespace make = motes::testing;
  constexpr int kFrames = 24;
  constexpr double kRate = 3;
  double found = 0;
  for (std::uint64_t seed = 1; seed <= kFrames; ++seed) {
    make::Random random(seed);
    VolumeFrame frame;
    frame.shape = {24, 128, 128};
    frame.voxel_um = {1, 1, 1};
    make::Field light(static_cast<std::size_t>(frame.shape.voxels()));
    make::each_voxel(frame.shape,
                     [&](std::size_t i, double, double, double x) { light[i] = 5 + 15 * x / 128; });
    const make::Field counts = make::photons(light, random);
    frame.voxels = std::vector<float>(counts.begin(), counts.end());
    DetectionOptions options;
    options.radius_um = {2.05, 2.05, 1.65};
    options.false_positives_per_frame = kRate;
    found += static_cast<double>(detect_spots(kTwo, frame, options).size()) / kFrames;
  }
  INFO("found " << found);
  const double chance = 3 * std::sqrt(kRate / kFrames);
  CHECK(found >= 0.8 * kRate - chance);
  CHECK(found <= 1.2 * kRate + chance);  // with only the table of white noise it would be 6
}

TEST_CASE("thread counts do not change the spots of the gallery", "[detect]") {
  const std::string name = GENERATE("plain-snr3", "hot-voxels", "photon-counting", "dense-.005", "large");
  const Picture picture = motes::testing::make_picture(name, 1, 5);
  DetectionOptions options = options_for(picture);
  options.refine = motes::tracking::Refine::fit;
  const Detections one = detect_spots(Execution{1}, picture.frame, options);
  const Detections three = detect_spots(Execution{3}, picture.frame, options);
  CHECK(one.x_um == three.x_um);
  CHECK(one.z_um == three.z_um);
  CHECK(one.quality == three.quality);
  CHECK(one.radius_um == three.radius_um);
  REQUIRE(one.properties.size() == 7);
  CHECK(one.properties[0].values == three.properties[0].values);
  CHECK(one.properties[4].values == three.properties[4].values);
}
