// Particles that keep their direction and move farther than their spacing.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/motion/straight.h"

using namespace motes;
using namespace motes::tracking;
using motes::testing::keen_walkers;
using motes::testing::share_wrong;

namespace {

double share_found(const testing::Walkers& series, const SeriesLinking& linking) {
  double found = 0, all = 0;
  for (std::size_t i = 0; i < series.next.size(); ++i)
    if (series.next[i] >= 0) all += 1, found += linking.next[i] == series.next[i];
  return found / all;
}

}  // namespace

TEST_CASE("particles that keep their direction are linked over more than their spacing") {
  const std::uint64_t seed = GENERATE(1, 2);
  const auto [n, step] = GENERATE(std::pair(60, 1.1), std::pair(120, 1.3));
  const testing::Walkers series = keen_walkers(n, 25, step, 0.07, seed);
  const SeriesLinks links = link_series({2}, series.frames, {});
  CAPTURE(seed, n, step);
  CHECK(links.persistent);
  CHECK(share_found(series, links.linking) > 0.75);
  CHECK(share_wrong(series, links) < 0.1);
}

TEST_CASE("straight links of fast particles are found among resting ones") {
  const std::uint64_t seed = GENERATE(1, 2);
  std::vector<Detections> frames = keen_walkers(40, 25, 0.8, 0.2, seed).frames;
  std::mt19937_64 rng(seed);
  std::normal_distribution<> jitter(0, 0.01);
  std::vector<Vec3> rest(80);
  for (Vec3& p : rest) p = testing::uniform_point(rng, std::cbrt(40.0));
  for (Detections& frame : frames)
    for (const Vec3& p : rest) {
      const double x = jitter(rng), y = jitter(rng), z = jitter(rng);
      testing::add(frame, p + Vec3{x, y, z});
    }
  CHECK(testing::right_share(frames, link_straight({1}, pool_points(frames, {1}))) > 0.75);
}

TEST_CASE("straight links are found in series of few frames, and almost none among random points") {
  const testing::Walkers straight = keen_walkers(100, GENERATE(4, 20), 1, 0.02, 5);
  const SeriesPoints points = pool_points(straight.frames, {1});
  const SeriesLinking one = link_straight({1}, points), two = link_straight({3}, points);
  CHECK(one.next == two.next);
  double wrong = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    wrong += one.next[i] >= 0 && one.next[i] != straight.next[i];
  CHECK(wrong < 0.05 * static_cast<double>(one.links()));
  CHECK(share_found(straight, one) > 0.3);

  std::vector<Detections> random(10);
  std::mt19937_64 rng(7);
  for (std::size_t t = 0; t < random.size(); ++t) {
    random[t].frame = static_cast<int>(t);
    for (int k = 0; k < 100; ++k) testing::add(random[t], testing::uniform_point(rng, 5));
  }
  CHECK(link_straight({1}, pool_points(random, {1})).links() < 30);
}

TEST_CASE("straight links of empty frames, single points and copies") {
  std::vector<Detections> frames(6);
  for (std::size_t t = 0; t < frames.size(); ++t) frames[t].frame = static_cast<int>(t);
  CHECK(link_straight({1}, pool_points(frames, {1})).links() == 0);
  for (const std::size_t t : {0U, 1U, 3U, 5U})
    for (int copy = 0; copy < 3; ++copy) testing::add(frames[t], {static_cast<double>(t), 1, 1});
  CHECK_NOTHROW(link_straight({1}, pool_points(frames, {1})));
}
