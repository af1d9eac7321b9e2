// Frames with voxels that are NaN, as registration leaves.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/log_detector.h>

#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/filter/missing.h"

namespace {

using namespace motes;
using motes::testing::Field;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::detect_spots;
using motes::tracking::DetectionOptions;
using motes::tracking::DetectionReport;
namespace detect = motes::tracking::detect;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Shape3 kPlane{1, 256, 256}, kStack{16, 128, 128};

std::vector<float>& voxels_of(VolumeFrame& frame) { return std::get<std::vector<float>>(frame.voxels); }

/// Where data are missing: beside a field that was shifted by whole voxels in all directions, beside one that
/// was turned, or in single voxels.
enum class Missing { shifted, turned, single };

bool is_missing(Missing kind, const Shape3& s, std::int64_t z, std::int64_t y, std::int64_t x) {
  if (kind == Missing::shifted) return x < 17 || y >= s.ny - 9 || (s.nz > 1 && z < 3);
  if (kind == Missing::single) return (x * 7 + y * 13 + z * 5) % 151 == 0;
  const double u = static_cast<double>(x) - 0.5 * static_cast<double>(s.nx),
               v = static_cast<double>(y) - 0.5 * static_cast<double>(s.ny);
  const double along = std::abs(u * std::cos(.15) + v * std::sin(.15)),
               across = std::abs(v * std::cos(.15) - u * std::sin(.15));
  return along > 0.44 * static_cast<double>(s.nx) || across > 0.44 * static_cast<double>(s.ny);
}

/// A frame of spots on a background that slopes, and its spots outside the missing part.
struct Picture {
  VolumeFrame whole, frame;
  std::vector<Spot> spots;
  std::int64_t missing = 0;
};

Picture picture_of(const Shape3& shape, int spots, Missing kind, std::uint64_t seed) {
  Random random(seed);
  testing::Scene scene;
  scene.shape = shape;
  scene.peak = 60;
  scene.background = 60;
  scene.spots = testing::places(shape, scene.sigma, spots, 3, 6, random);
  scene.light.assign(static_cast<std::size_t>(shape.voxels()), 0);
  testing::draw_spots(scene);
  Field light = scene.light;
  for (std::size_t i = 0; i < light.size(); ++i)
    light[i] += scene.background + 0.3 * static_cast<double>(static_cast<std::int64_t>(i) % shape.nx);
  Picture picture;
  picture.whole = picture.frame = testing::float_frame(shape, testing::photons(light, random));
  std::vector<float>& voxels = voxels_of(picture.frame);
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    const auto k = static_cast<std::int64_t>(i);
    if (!is_missing(kind, shape, k / (shape.nx * shape.ny), k / shape.nx % shape.ny, k % shape.nx)) continue;
    voxels[i] = kNan;
    ++picture.missing;
  }
  for (const Spot& p : scene.spots)
    if (kind == Missing::single ||
        !is_missing(kind, shape, std::lround(p.z), std::lround(p.y), std::lround(p.x)))
      picture.spots.push_back(p);
  return picture;
}

DetectionOptions options_for(const Shape3& shape) {
  DetectionOptions options;
  const double radius = std::sqrt(shape.nz > 1 ? 3.0 : 2.0) * testing::Scene().sigma.x;
  options.radius_um = {radius, radius, radius};
  options.refine = tracking::Refine::fit;
  return options;
}

std::string message_of(const VolumeFrame& frame) {
  try {
    detect_spots(Execution{1}, frame, options_for(frame.shape));
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace

TEST_CASE("spots are found beside NaN, and none in it", "[detect]") {
  const Shape3 shape = GENERATE(kPlane, kStack);
  const Missing kind = GENERATE(Missing::shifted, Missing::turned, Missing::single);
  for (const std::uint64_t seed : {1U, 2U}) {
    CAPTURE(shape.nz, static_cast<int>(kind), seed);
    const Picture picture = picture_of(shape, 60, kind, seed);
    DetectionReport report;
    const Detections found = detect_spots(Execution{2}, picture.frame, options_for(shape), &report);
    CHECK(report.missing_voxels == picture.missing);
    const auto score = testing::score_spots(picture.spots, found, {1, 1, 1}, 2.5);
    CAPTURE(found.size(), picture.spots.size());
    CHECK(testing::f1_of(score, picture.spots.size(), found.size()) >= .95);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (kind != Missing::single)
        CHECK_FALSE(is_missing(kind, shape, std::lround(found.z_um[i]), std::lround(found.y_um[i]),
                               std::lround(found.x_um[i])));
    const auto sizes = tracking::estimate_sizes(Execution{2}, picture.frame, tracking::Polarity::bright);
    REQUIRE(sizes.has_value());
    CHECK(sizes->radius_um.x / options_for(shape).radius_um.x == Approx(1).epsilon(.1));
  }
}

TEST_CASE("a frame of noise has no spots beside NaN", "[detect]") {
  const Shape3 shape = GENERATE(kPlane, kStack);
  const Missing kind = GENERATE(Missing::shifted, Missing::turned, Missing::single);
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    found += detect_spots(Execution{2}, picture_of(shape, 0, kind, seed).frame, options_for(shape)).size();
  CAPTURE(shape.nz, static_cast<int>(kind));
  CHECK(found <= 2);
}

TEST_CASE("data are continued across NaN, by any number of threads", "[detect]") {
  const Missing kind = GENERATE(Missing::shifted, Missing::turned, Missing::single);
  const Picture picture = picture_of(kStack, 20, kind, 3);
  const auto one = detect::without_missing({1}, picture.frame),
             two = detect::without_missing({2}, picture.frame);
  REQUIRE(one.has_value());
  REQUIRE(two.has_value());
  CHECK(one->frame.voxels == two->frame.voxels);
  CHECK(one->is_data == two->is_data);
  const auto &filled = std::get<std::vector<float>>(one->frame.voxels),
             &whole = std::get<std::vector<float>>(picture.whole.voxels);
  CHECK(std::none_of(filled.begin(), filled.end(), [](float v) { return std::isnan(v); }));
  for (std::size_t i = 0; i < whole.size(); ++i)
    if (one->is_data[i] != 0 && filled[i] != whole[i]) FAIL("a voxel of data changed: " << i);
  CHECK(std::count(one->is_data.begin(), one->is_data.end(), 0) == picture.missing);
  CHECK_FALSE(detect::without_missing({1}, picture.whole).has_value());
}

TEST_CASE("the mirror image of the nearest data replaces NaN", "[detect]") {
  VolumeFrame frame = testing::float_frame({1, 2, 5}, Field(10, 7));
  voxels_of(frame) = {kNan, kNan, 3, 4, 5, 1, kNan, kNan, kNan, 9};
  const auto filled = detect::without_missing({1}, frame);
  REQUIRE(filled.has_value());
  CHECK(std::get<std::vector<float>>(filled->frame.voxels) ==
        std::vector<float>{1, 4, 3, 4, 5, 1, 1, 3, 9, 9});
  voxels_of(frame).assign(10, kNan);
  CHECK(detect_spots({1}, frame, options_for(frame.shape)).size() == 0);
  CHECK_FALSE(tracking::estimate_radius({1}, frame, tracking::Polarity::bright).has_value());
}

TEST_CASE("infinite voxels are named, not the NaN before them", "[detect]") {
  Picture picture = picture_of(kPlane, 10, Missing::shifted, 1);
  voxels_of(picture.frame)[30 * 256 + 40] = std::numeric_limits<float>::infinity();
  CHECK_THAT(message_of(picture.frame), Catch::Contains("(0, 30, 40) is infinite"));
}
