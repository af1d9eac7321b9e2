// Two sizes in one picture: cells with texture, cells that hold spots, and what only looks like either.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"
#include "tracking/detect/size/rival_size.h"

namespace {

using namespace motes;
using motes::testing::Field;
using motes::testing::Random;
using motes::testing::Spot;
using motes::tracking::estimate_sizes;
using motes::tracking::Polarity;

const Execution kTwo{2};
constexpr double kCell = 26;  // radius, voxels
constexpr int kCells = 10;    ///< at most

Shape3 shape_of(std::int64_t planes) { return {planes, 384, 384}; }

VolumeFrame with_noise(const Shape3& shape, Field light, Random& random) {
  light = testing::smoothed(light, shape, {1, 1, shape.nz > 1 ? 0.5 : 0});
  for (double& v : light) v = random.poisson(v + 10);
  return testing::float_frame(shape, light);
}

/// Pillars of about this brightness.
struct Cells {
  Shape3 shape;
  std::vector<Spot> centres;
  Field light;

  Cells(const Shape3& s, double brightness, Random& random)
      : shape(s), light(static_cast<std::size_t>(s.voxels()), 0.0) {
    centres = testing::places({1, s.ny, s.nx}, {kCell, kCell, 0}, kCells, 1, 2.4, random);
    std::vector<double> heights;
    for (std::size_t i = 0; i < centres.size(); ++i)
      heights.push_back(brightness * (0.7 + 0.6 * random.uniform()));
    testing::each_voxel(s, [&](std::size_t i, double, double y, double x) {
      for (std::size_t c = 0; c < centres.size(); ++c)
        if (std::hypot(x - centres[c].x, y - centres[c].y) < kCell) light[i] = heights[c];
    });
  }
};

/// Light of spots, `peak` high and 1.5 wide, at these places.
void add_spots(Field& light, const Shape3& shape, const std::vector<Spot>& places, double peak) {
  for (const Spot& p : places)
    for (std::int64_t y = std::max<std::int64_t>(0, std::lround(p.y) - 6);
         y < std::min(shape.ny, static_cast<std::int64_t>(std::lround(p.y)) + 7); ++y)
      for (std::int64_t x = std::max<std::int64_t>(0, std::lround(p.x) - 6);
           x < std::min(shape.nx, static_cast<std::int64_t>(std::lround(p.x)) + 7); ++x) {
        const double r = std::hypot(static_cast<double>(x) - p.x, static_cast<double>(y) - p.y) / 1.5;
        light[testing::at(shape, 0, y, x)] += peak * std::exp(-0.5 * r * r);
      }
}

/// Twenty spots in each cell of a plane.
std::vector<Spot> spots_in(const Cells& cells, Random& random) {
  std::vector<Spot> spots;
  for (const Spot& c : cells.centres)
    for (int k = 0; k < 20; ++k) {
      const double r = 0.9 * kCell * std::sqrt(random.uniform()), a = 6.2832 * random.uniform();
      spots.push_back({0, c.y + r * std::sin(a), c.x + r * std::cos(a)});
    }
  return spots;
}

void check_near(std::size_t count, std::size_t expected) {
  CHECK(2 * count >= expected);
  CHECK(count <= 2 * expected);
}

std::size_t found_at(const VolumeFrame& frame, const Vec3& radius_um) {
  motes::tracking::DetectionOptions options;
  options.radius_um = radius_um;
  return motes::tracking::detect_spots(kTwo, frame, options).size();
}

/// Cells of a lognormal texture, of grains or of fibres along x of this length.
VolumeFrame textured_cells(const Shape3& shape, double strength, std::uint64_t seed, std::size_t& count,
                           double length = 1.2) {
  Random random(seed);
  Cells cells(shape, 200, random);
  const double deep = shape.nz > 1 ? 1 : 0;
  const Field texture = testing::texture(shape, {length, 1.2, deep}, random);
  for (std::size_t i = 0; i < texture.size(); ++i) cells.light[i] *= std::exp(strength * texture[i]);
  count = cells.centres.size();
  return with_noise(shape, std::move(cells.light), random);
}

}  // namespace

TEST_CASE("the radius of cells with texture is in doubt", "[detect]") {
  struct Case {
    std::uint64_t seed;
    std::int64_t planes;
    double strength;
  };
  const auto [seed, planes, strength] =
      GENERATE(Case{1, 1, 0.3}, Case{2, 1, 0.3}, Case{3, 1, 0.3}, Case{1, 1, 0.9}, Case{2, 1, 0.9},
               Case{3, 1, 0.9}, Case{1, 5, 0.7}, Case{2, 5, 0.7});
  std::size_t cells = 0;
  const VolumeFrame frame = textured_cells(shape_of(planes), strength, seed, cells);
  const auto sizes = estimate_sizes(kTwo, frame, Polarity::bright);
  REQUIRE(sizes);
  INFO("seed " << seed << ", " << planes << " planes, texture " << strength << ": radius "
               << sizes->radius_um.x);
  if (strength < 0.4 && !sizes->rival) {  // no doubt: the cells
    check_near(found_at(frame, sizes->radius_um), cells);
    return;
  }
  REQUIRE(sizes->rival);
  const auto& rival = *sizes->rival;
  INFO(rival.taken << " found, or " << rival.found << " of radius " << rival.radius_um.x);
  const bool cells_taken = sizes->radius_um.x > rival.radius_um.x;
  if (strength < 0.4) CHECK(cells_taken);
  const Vec3 wide = cells_taken ? sizes->radius_um : rival.radius_um;
  CHECK(wide.x > 0.5 * kCell);
  CHECK(wide.x < 2 * kCell);
  check_near(cells_taken ? rival.taken : rival.found, cells);
  CHECK((cells_taken ? rival.found : rival.taken) > 40);
}

TEST_CASE("cells stand out from spots that lie in them and are fainter", "[detect]") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  const double strength = GENERATE(0.3, 0.9);
  std::size_t cells = 0;
  const VolumeFrame frame = textured_cells(shape_of(1), strength, seed, cells);
  const auto rival = tracking::detect::find_rival(kTwo, frame, {2.5, 2.5, 2.5}, Polarity::bright);
  REQUIRE(rival);
  INFO("seed " << seed << ", texture " << strength << ": radius " << rival->size.radius_um.x);
  CHECK(rival->stands_out == (strength < 0.4));
  check_near(rival->size.found, cells);
}

TEST_CASE("cells stand out from a texture of fibres, although maxima on fibres are not reported as spots",
          "[detect]") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  std::size_t cells = 0;
  const VolumeFrame frame = textured_cells(shape_of(1), 0.3, seed, cells, 5);
  const auto rival = tracking::detect::find_rival(kTwo, frame, {2.5, 2.5, 2.5}, Polarity::bright);
  REQUIRE(rival);
  INFO("seed " << seed << ": radius " << rival->size.radius_um.x);
  CHECK(rival->stands_out);
  check_near(rival->size.found, cells);
}

TEST_CASE("bright spots are taken, and the cells that they lie in are named", "[detect]") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  Random random(seed);
  Cells cells(shape_of(1), 90, random);
  add_spots(cells.light, cells.shape, spots_in(cells, random), 250);
  const VolumeFrame frame = with_noise(cells.shape, cells.light, random);
  const auto sizes = estimate_sizes(kTwo, frame, Polarity::bright);
  REQUIRE(sizes);
  CHECK(sizes->radius_um.x < 4);
  REQUIRE(sizes->rival);
  CHECK(sizes->rival->radius_um.x > 0.5 * kCell);
  check_near(sizes->rival->found, cells.centres.size());
}

TEST_CASE("the radius of spots in faint haze, in groups or anywhere is not in doubt", "[detect]") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  const int kind = GENERATE(0, 1, 2);
  Random random(seed);
  Cells cells(shape_of(1), kind == 0 ? 10 : 0, random);
  const std::vector<Spot> spots =
      kind < 2 ? spots_in(cells, random) : testing::places(cells.shape, {2, 2, 0}, 200, 1, 3, random);
  add_spots(cells.light, cells.shape, spots, 250);
  const VolumeFrame frame = with_noise(cells.shape, cells.light, random);
  const auto sizes = estimate_sizes(kTwo, frame, Polarity::bright);
  REQUIRE(sizes);
  INFO("seed " << seed << ", kind " << kind);
  CHECK(sizes->radius_um.x < 4);
  CHECK_FALSE(sizes->rival);
}
