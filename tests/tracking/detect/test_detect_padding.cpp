// Frames padded with a constant, as by registration, deskewing or round fields of view.

#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/filter/padding.h"

namespace {

using namespace motes;
using motes::testing::Spot;
using motes::tracking::detect_spots;
using motes::tracking::detect::without_padding;

const Execution kTwo{2};
constexpr Shape3 kShape{16, 96, 112};

enum class Kind { columns, planes, circle, skewed, lost };
constexpr Kind kKinds[] = {Kind::columns, Kind::planes, Kind::circle, Kind::skewed, Kind::lost};

bool is_data(Kind kind, double z, double y, double x) {
  switch (kind) {
    case Kind::columns:
      return y >= 20 && x >= 25;
    case Kind::planes:
      return z >= 4 && z < 13;
    case Kind::circle:
      return (y - 48) * (y - 48) + (x - 56) * (x - 56) <= 42 * 42;
    case Kind::skewed:
      return x >= 2 * z && x < 80 + 2 * z;
    case Kind::lost:
      return std::round(z) != 8;
  }
  return true;
}

/// Counts with an offset of 100; voxels outside the data are `padding`.
VolumeFrame picture(Kind kind, const std::vector<Spot>& spots, double padding, std::uint64_t seed) {
  testing::SpotFrameOptions scene;
  scene.shape = kShape;
  scene.psf_sigma = {1.5, 1.5, 1.5};
  scene.peak = 60;
  const std::vector<double> light = testing::expected_photons(scene, spots);
  testing::Random random(seed);
  std::vector<double> values;
  for (const double mean : light) values.push_back(100 + random.poisson(mean));
  testing::each_voxel(kShape, [&](std::size_t i, double z, double y, double x) {
    if (!is_data(kind, z, y, x)) values[i] = padding;
  });
  return testing::float_frame(kShape, values);
}

tracking::DetectionOptions options_of() {
  tracking::DetectionOptions options;
  options.radius_um = {2.6, 2.6, 2.6};
  options.refine = tracking::Refine::fit;
  return options;
}

VolumeFrame frame_of(const Shape3& shape, const std::vector<double>& values) {
  return testing::float_frame(shape, values);
}

}  // namespace

TEST_CASE("no spots are found in noise beside padding, nor at its edge", "[detect]") {
  for (const Kind kind : kKinds)
    for (const double padding : {0.0, 400.0}) {
      CAPTURE(static_cast<int>(kind), padding);
      const VolumeFrame frame = picture(kind, {}, padding, 3);
      CHECK(detect_spots(kTwo, frame, options_of()).empty());
      CHECK_FALSE(tracking::estimate_radius(kTwo, frame, tracking::Polarity::bright).has_value());
    }
}

TEST_CASE("spots beside padding are found, but none inside it", "[detect]") {
  std::vector<Spot> spots;
  for (int z = 3; z < 16; z += 9)
    for (int y = 4; y < 96; y += 11)
      for (int x = 5; x < 112; x += 11) spots.push_back({z + .1, y + .2, x + .3});
  for (const Kind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    std::vector<Spot> inside;
    for (const Spot& spot : spots)
      if (is_data(kind, spot.z - .6, spot.y - .6, spot.x - .6) &&
          is_data(kind, spot.z + .6, spot.y + .6, spot.x + .6))
        inside.push_back(spot);
    const VolumeFrame frame = picture(kind, spots, 0, 4);
    const Detections found = detect_spots(kTwo, frame, options_of());
    CHECK(testing::score_spots(inside, found, {1, 1, 1}, 2).matched >=
          .97 * static_cast<double>(inside.size()));
    // An oblique edge cuts a few spots in two.
    const double in_two = kind == Kind::skewed ? .06 * static_cast<double>(found.size()) : 1;
    CHECK(testing::score_spots(spots, found, {1, 1, 1}, 3).matched >=
          static_cast<double>(found.size()) - in_two);
    for (std::size_t i = 0; i < found.size(); ++i)
      CHECK(is_data(kind, std::round(found.z_um[i]), std::round(found.y_um[i]), std::round(found.x_um[i])));
    CHECK(detect_spots(Execution{1}, frame, options_of()).x_um == found.x_um);
  }
}

TEST_CASE("a region that was cut out has no spots at its edge", "[detect]") {
  // A ring, so that rows have padding between data; in one corner the data reach the corner of the frame.
  const Shape3 shape{1, 200, 220};
  testing::SpotFrameOptions scene;
  scene.shape = shape;
  scene.psf_sigma = {1.5, 1.5, 1.5};
  scene.peak = 60;
  const std::vector<Spot> spots{{0, 40, 110}, {0, 100, 30}, {0, 160, 120}, {0, 110, 190}};
  for (const bool empty : {true, false}) {
    CAPTURE(empty);
    const std::vector<double> light = testing::expected_photons(scene, empty ? std::vector<Spot>{} : spots);
    testing::Random random(11);
    std::vector<double> values;
    for (const double mean : light) values.push_back(100 + random.poisson(mean));
    testing::each_voxel(shape, [&](std::size_t i, double, double y, double x) {
      const double r = std::hypot(y - 100, x - 110);
      if ((r < 45 || r > 98) && y + x > 60) values[i] = 0;
    });
    const VolumeFrame frame = frame_of(shape, values);
    const auto bare = without_padding(kTwo, frame);
    REQUIRE(bare.has_value());
    CHECK(bare->is_data[100 * 220 + 110] == 0);
    CHECK(bare->is_data[100 * 220 + 30] == 1);
    tracking::DetectionOptions options = options_of();
    options.radius_um = {2.1, 2.1, 2.1};
    CHECK(detect_spots(kTwo, frame, options).size() == (empty ? 0 : spots.size()));
  }
}

TEST_CASE("objects on an empty ground are not taken for a cut-out region") {
  const Shape3 shape{1, 200, 200};
  testing::Random random(5);
  std::vector<double> values;
  testing::each_voxel(shape, [&](std::size_t, double, double y, double x) {
    const double r = std::hypot(std::fmod(y, 40) - 20, std::fmod(x, 40) - 20);
    values.push_back(r < 14 ? 100 + random.poisson(50) : 0);
  });
  CHECK_FALSE(without_padding(kTwo, frame_of(shape, values)).has_value());
}

TEST_CASE("padding is distinguished from counts of 0, empty background and constants") {
  const Shape3 shape{4, 40, 50};
  testing::Random random(9);
  std::vector<double> counts, few, spots, constant, narrow;
  for (std::int64_t i = 0; i < shape.voxels(); ++i) {
    counts.push_back(random.poisson(.2));
    few.push_back(random.poisson(3));
    spots.push_back(i % 17 == 0 ? 50 : 0);
    constant.push_back(7);
    narrow.push_back(50 + random.poisson(20));
  }
  for (std::int64_t r = 0; r < shape.nz * shape.ny; ++r) narrow[static_cast<std::size_t>(r * shape.nx)] = 0;
  for (const auto* values : {&counts, &few, &spots, &constant})
    CHECK_FALSE(without_padding(kTwo, frame_of(shape, *values)).has_value());
  for (const double wide_spot : {3.0, 12.0}) {  // on an empty background
    const Shape3 square{1, 100, 100};
    std::vector<double> spot;
    testing::each_voxel(square, [&](std::size_t, double, double y, double x) {
      const double r = std::hypot(y - 50, x - 50) / wide_spot;
      spot.push_back(std::round(1000 * std::exp(-r * r / 2)));
    });
    CHECK_FALSE(without_padding(kTwo, frame_of(square, spot)).has_value());
    for (double& v : spot) v = v > 500 ? 100 : 0;
    CHECK_FALSE(without_padding(kTwo, frame_of(square, spot)).has_value());
  }
  const Shape3 wide{1, 64, 400};  // objects on the right of an empty background
  std::vector<double> islands(static_cast<std::size_t>(wide.voxels()));
  testing::each_voxel(wide, [&](std::size_t i, double, double y, double x) {
    if (x > 100 && std::fmod(x, 9) < 3 && std::fmod(y, 9) < 8) islands[i] = 50;
  });
  CHECK_FALSE(without_padding(kTwo, frame_of(wide, islands)).has_value());
  const auto bare = without_padding(kTwo, frame_of(shape, narrow));  // a column one voxel wide
  REQUIRE(bare);
  const auto& filled = std::get<std::vector<float>>(bare->frame.voxels);
  for (std::size_t i = 0; i < filled.size(); i += 50) {
    CHECK(bare->is_data[i] == 0);
    CHECK(bare->is_data[i + 1] == 1);
    CHECK(filled[i] == filled[i + 2]);
  }
  for (std::int64_t i = 0; i < shape.voxels(); ++i)
    if (i % 50 < 12) few[static_cast<std::size_t>(i)] = 0;  // counts that are mostly 0, padded with 0
  const auto padded = without_padding(kTwo, frame_of(shape, few));
  REQUIRE(padded);
  std::size_t data = 0;
  for (const std::uint8_t one : padded->is_data) data += one;
  CHECK(data == Approx(static_cast<double>(shape.voxels()) / 50 * 38).epsilon(.01));
}
