// Axes with longer residuals, such as z in microscopy: their factors, and series linked with them.

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/motion/axes.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;
using testing::all_right;
using testing::right_share;

namespace {

Vec3 normal_vec(std::mt19937_64& rng, const Vec3& deviation) {
  std::normal_distribution<> normal;
  const double x = deviation.x * normal(rng), y = deviation.y * normal(rng);
  return {x, y, deviation.z * normal(rng)};
}

/// `n` particles at unit density that diffuse by `step` along each axis, with localisation errors `error`.
/// Detection k of every frame is particle k.
std::vector<Detections> noisy(int n, int frames, double step, const Vec3& error, std::uint64_t seed,
                              const Vec3& drift = {}) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> place(0, std::cbrt(n));
  std::vector<Vec3> at;
  for (int k = 0; k < n; ++k) {
    const double x = place(rng), y = place(rng);
    at.push_back({x, y, place(rng)});
  }
  std::vector<Detections> out(static_cast<std::size_t>(frames));
  for (int t = 0; t < frames; ++t) {
    Detections& d = out[static_cast<std::size_t>(t)];
    d.frame = t;
    for (Vec3& p : at) {
      const Vec3 found = p + normal_vec(rng, error);
      d.x_um.push_back(found.x), d.y_um.push_back(found.y), d.z_um.push_back(found.z);
      p += drift + normal_vec(rng, {step, step, step});
    }
  }
  return out;
}

}  // namespace

TEST_CASE("axes are scaled by their residuals, and the volume does not change") {
  const SeriesPoints points = pool_points(noisy(80, 20, 0, {0.05, 0.05, 0.2}, 1));
  const Vec3 factors = axis_factors(points, {}, all_right(points, 80), 0);
  CHECK(factors.x / factors.z == Approx(4).epsilon(0.1));
  CHECK(factors.y / factors.x == Approx(1).epsilon(0.1));
  CHECK(factors.x * factors.y * factors.z == Approx(1));
}

TEST_CASE("residuals in a plane do not scale the third axis") {
  auto frames = noisy(80, 20, 0, {0.05, 0.2, 0}, 2);
  for (Detections& d : frames) d.z_um.assign(d.z_um.size(), 3);
  const SeriesPoints points = pool_points(frames);
  const Vec3 factors = axis_factors(points, {}, all_right(points, 80), 0);
  CHECK(factors.x / factors.y == Approx(4).epsilon(0.1));
  CHECK(factors.z == 1);
  CHECK(factors.x * factors.y == Approx(1));
}

TEST_CASE("axes are not scaled if they are alike, or for few links or few straight tracks") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  const SeriesPoints same = pool_points(noisy(60, 20, 0.1, {0.1, 0.1, 0.1}, seed));
  CHECK(alike(axis_factors(same, {}, all_right(same, 60), 0)));
  const SeriesPoints few = pool_points(noisy(10, 5, 0, {0.05, 0.05, 0.3}, seed));
  CHECK(alike(axis_factors(few, {}, all_right(few, 10), 0)));
  // Straight tracks: many links, but each track has a single direction.
  for (const int particles : {4, 12}) {
    std::vector<Detections> straight(41);
    std::mt19937_64 rng(seed);
    std::vector<Vec3> at, way;
    for (int k = 0; k < particles; ++k)
      at.push_back(normal_vec(rng, {5, 5, 5})), way.push_back(normal_vec(rng, {1, 1, 1}));
    for (std::size_t t = 0; t < straight.size(); ++t) {
      straight[t].frame = static_cast<std::int32_t>(t);
      for (std::size_t k = 0; k < at.size(); ++k) {
        straight[t].x_um.push_back(at[k].x), straight[t].y_um.push_back(at[k].y);
        straight[t].z_um.push_back(at[k].z);
        at[k] += way[k];
      }
    }
    const SeriesPoints ways = pool_points(straight);
    CHECK(alike(axis_factors(ways, {}, all_right(ways, particles), 0)));
  }
}

TEST_CASE("particles whose z is less sure are linked by their x and y") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  const auto frames = noisy(80, 20, 0.06, {0.06, 0.06, 0.3}, seed);
  const SeriesLinks links = link_series({}, frames, {});
  CHECK(links.axes.x / links.axes.z > 2);
  CHECK(links.axes.x / links.axes.z < 8);
  CHECK(links.points.at[5].x == Approx(links.axes.x * frames[0].x_um[5]));
  CHECK(links.points.at[5].z == Approx(links.axes.z * frames[0].z_um[5]));
  CHECK(right_share(frames, links.linking) > 0.9);
  SeriesOptions bounded;
  bounded.gate = Gate{2};
  CHECK(alike(link_series({}, frames, bounded).axes));
}

TEST_CASE("particles with equal errors along all axes are linked without scaling") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  CHECK(alike(link_series({}, noisy(40, 20, 0.15, {}, seed), {}).axes));
  CHECK(alike(link_series({}, noisy(40, 20, 0.02, {}, seed, {0.4, 0, 0}), {}).axes));
}
