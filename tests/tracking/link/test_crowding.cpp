// The density around each detection, and series of particles of which some are crowded.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/confidence.h>
#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/confidence/confidence_steps.h"
#include "tracking/link/series/crowding.h"

using namespace motes;
using namespace motes::tracking;
using testing::right_share;

namespace {

struct Group {
  int n = 0;
  double side = 1, step = 0, at = 0;  ///< side of its square, step along each axis, place along x
};

/// Particles that diffuse in planes. Detection k of every frame is particle k.
std::vector<Detections> groups_of(const std::vector<Group>& groups, int count, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> uniform;
  std::normal_distribution<> normal;
  std::vector<Detections> out(static_cast<std::size_t>(count));
  for (int t = 0; t < count; ++t) out[static_cast<std::size_t>(t)].frame = t;
  for (const Group& group : groups)
    for (int k = 0; k < group.n; ++k) {
      Vec3 p{group.at + group.side * uniform(rng), group.side * uniform(rng), 0};
      for (Detections& d : out)
        testing::add(d, p), p.x += group.step * normal(rng), p.y += group.step * normal(rng);
    }
  return out;
}

const Group kDense{80, 1.3, 0.025, 0}, kSparse{20, 7, 0.3, 3};

}  // namespace

TEST_CASE("an even sample has no crowding") {
  CHECK(crowding_of({1}, pool_points(groups_of({{50, 7, 0.1, 0}}, 10, 1))).empty());
  CHECK(crowding_of({1}, pool_points(groups_of({{4, 2, 0.1, 0}}, 10, 1))).empty());
  CHECK(crowding_of({1}, pool_points({})).empty());
}

TEST_CASE("crowded detections have the density around them") {
  SeriesPoints points = pool_points(groups_of({kDense, kSparse}, 4, 1));
  const std::vector<double> crowding = crowding_of({2}, points);
  REQUIRE(crowding.size() == 400);
  CHECK(crowding == crowding_of({1}, points));
  points.crowding = crowding;
  std::vector<double> dense, sparse;
  for (std::size_t i = 0; i < 400; ++i) (i % 100 < 80 ? dense : sparse).push_back(points.density_at(i));
  const auto middle = [](std::vector<double>& of) {
    std::nth_element(of.begin(), of.begin() + std::ssize(of) / 2, of.end());
    return of[of.size() / 2];
  };
  CHECK(middle(dense) == Approx(80 / (1.3 * 1.3)).epsilon(0.3));
  // Of the ten nearest, those beyond the border are missing.
  CHECK(middle(sparse) > 0.1);
  CHECK(middle(sparse) < 20 / 49.0);
  CHECK(points.least_density(2) <= *std::min_element(sparse.begin() + 40, sparse.begin() + 60));
}

TEST_CASE("few particles that move far are linked beside many crowded ones") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  const auto frames = groups_of({kDense, kSparse}, 15, seed);
  CHECK(right_share(frames, link_series({}, frames, {}).linking) > 0.9);
}

TEST_CASE("simulated particles move as those around them if densities differ") {
  const auto frames = groups_of({kDense, kSparse}, 15, 1);
  SeriesOptions options;
  options.model = MotionModel::standing;
  const SeriesLinks links = link_series({}, frames, options);
  REQUIRE_FALSE(links.points.crowding.empty());
  const detail::SimulatedSeries series = detail::simulate_like(links, {}, 4000, 1);
  std::map<std::int64_t, Vec3> before;
  double dense = 0, sparse = 0, few = 0, many = 0;
  for (std::size_t t = 0; t < 2; ++t)
    for (std::size_t k = 0; k < series.frames[t].size(); ++k) {
      const Detections& d = series.frames[t];
      const Vec3 now{d.x_um[k], d.y_um[k], d.z_um[k]};
      const auto [place, first] = before.try_emplace(series.particle[t][k], now);
      if (first) continue;
      const double length = length_of(now - place->second);
      if (place->second.x < 1.5)
        dense += length, many += 1;
      else
        sparse += length, few += 1;
    }
  CHECK(dense / many == Approx(0.025 * 1.25).epsilon(0.5));
  CHECK(sparse / few == Approx(0.3 * 1.25).epsilon(0.35));
}

TEST_CASE("the expected share of wrong links among crowded and sparse particles is about the true one") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  const auto frames = groups_of({kDense, kSparse}, 15, seed);
  const SeriesLinks links = link_series({}, frames, {});
  CHECK(std::abs(link_confidence({}, links, {}).wrong - (1 - right_share(frames, links.linking))) < 0.05);
}
