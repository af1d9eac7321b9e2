// Positions rounded to a grid: its steps, and series of such positions.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/confidence.h>
#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/confidence/confidence_steps.h"
#include "tracking/link/series/rounding.h"

using namespace motes;
using namespace motes::tracking;
using testing::right_share;

namespace {

Vec3 rounded(const Vec3& p, const Vec3& step) {
  const auto to = [](double v, double s) { return s > 0 ? s * std::round(v / s) : v; };
  return {to(p.x, step.x), to(p.y, step.y), to(p.z, step.z)};
}

std::vector<Vec3> points_on(const Vec3& step) {
  std::mt19937_64 rng(1);
  std::vector<Vec3> out;
  for (int k = 0; k < 500; ++k) out.push_back(rounded(testing::uniform_point(rng, 30), step));
  return out;
}

/// `n` particles at unit density that diffuse in a plane by `step` along both axes. Positions are rounded to
/// whole numbers of `pixel`. Detection k of every frame is particle k.
std::vector<Detections> on_pixels(int n, int count, double step, double pixel, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> place(0, std::sqrt(n));
  std::normal_distribution<> normal(0, step);
  std::vector<Vec3> at(static_cast<std::size_t>(n));
  for (Vec3& p : at) p.x = place(rng), p.y = place(rng);
  std::vector<Detections> out(static_cast<std::size_t>(count));
  for (int t = 0; t < count; ++t) {
    Detections& d = out[static_cast<std::size_t>(t)];
    d.frame = t;
    for (Vec3& p : at) testing::add(d, rounded(p, {pixel, pixel, 0})), p.x += normal(rng), p.y += normal(rng);
  }
  return out;
}

/// Without detections in the pixel of an earlier one.
std::vector<Detections> one_a_pixel(const std::vector<Detections>& frames) {
  std::vector<Detections> out;
  for (const Detections& from : frames) {
    Detections d;
    d.frame = from.frame;
    std::set<std::pair<double, double>> seen;
    for (std::size_t k = 0; k < from.size(); ++k)
      if (seen.emplace(from.x_um[k], from.y_um[k]).second) testing::add(d, {from.x_um[k], from.y_um[k], 0});
    out.push_back(std::move(d));
  }
  return out;
}

/// The mean squared displacement of the links over one frame.
double squared_steps(const SeriesLinks& links) {
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < links.points.size(); ++i) {
    const auto next = static_cast<std::size_t>(links.linking.next[i]);
    if (links.linking.next[i] < 0 || links.points.slot[next] != links.points.slot[i] + 1) continue;
    sum += squared_length(links.points.at[next] - links.points.at[i]), all += 1;
  }
  return sum / all;
}

/// The mean squared displacement of simulated particles over one frame.
double squared_steps(const detail::SimulatedSeries& series) {
  double sum = 0, all = 0;
  std::map<std::int64_t, Vec3> before;
  for (std::size_t t = 0; t < series.frames.size(); ++t) {
    std::map<std::int64_t, Vec3> now;
    const Detections& d = series.frames[t];
    for (std::size_t k = 0; k < d.size(); ++k)
      if (series.particle[t][k] >= 0) now[series.particle[t][k]] = {d.x_um[k], d.y_um[k], d.z_um[k]};
    for (const auto& [name, place] : now)
      if (before.contains(name)) sum += squared_length(place - before[name]), all += 1;
    before = std::move(now);
  }
  return sum / all;
}

}  // namespace

TEST_CASE("positions on a grid along all axes have its least step") {
  const auto steps = [](const Vec3& step) {
    const Vec3 out = rounding_steps(points_on(step));
    return std::vector{out.x, out.y, out.z};
  };
  CHECK(steps({1, 1, 1}) == std::vector<double>{1, 1, 1});
  CHECK(steps({1, 1, 2}) == std::vector<double>{1, 1, 1});
  CHECK(steps({0.5, 1, 2})[2] == Approx(0.5));
  CHECK(steps({0, 0, 1}) == std::vector<double>{0, 0, 0});
  CHECK(steps({0, 0, 0}) == std::vector<double>{0, 0, 0});
  std::vector<Vec3> flat = points_on({1, 1, 1});
  for (Vec3& p : flat) p.z = 3;
  CHECK(rounding_steps(flat).y == 1);
  CHECK(rounding_steps(flat).z == 0);
}

TEST_CASE("a few places that repeat are not a grid") {
  CHECK(rounding_steps(std::vector<Vec3>(100, Vec3{1, 2, 3})).x == 0);
  std::vector<Vec3> places;
  for (int k = 0; k < 100; ++k) places.push_back({k % 5 * 1.0, k % 4 * 1.0, 0});
  CHECK(rounding_steps(places).x == 0);
}

TEST_CASE("displacements are spread over a cell of the grid, evenly") {
  SeriesPoints points = pool_points(on_pixels(100, 5, 0.2, 0.25, 1));
  REQUIRE(points.rounded_um.x == 0.25);
  double sum = 0, squares = 0, most = 0;
  for (matching::Index i = 0; i < 400; ++i) {
    const Vec3 d = spread(points, {1, 2, 3}, i, i + 100);
    CHECK(d.z == 3);
    sum += d.x - 1, squares += (d.x - 1) * (d.x - 1), most = std::max(most, std::abs(d.x - 1));
  }
  CHECK(std::abs(sum / 400) < 0.015);
  CHECK(std::sqrt(squares / 400) == Approx(0.25 / std::sqrt(12)).epsilon(0.1));
  CHECK(most <= 0.125);
  points.rounded_um = {};
  CHECK(spread(points, {1, 2, 3}, 0, 1).x == 1);
}

TEST_CASE("particles that move less than a pixel are linked") {
  // Most displacements are 0. Particles in one pixel cannot be told apart.
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  const auto frames = on_pixels(100, 15, 0.08, 0.3, seed);
  CHECK(right_share(frames, link_series({}, frames, {}).linking) > 0.85);
}

TEST_CASE("the expected share of wrong links between rounded positions is about the true one") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  const auto frames = on_pixels(100, 15, 0.08, 0.3, seed);
  const SeriesLinks links = link_series({}, frames, {});
  CHECK(std::abs(link_confidence({}, links, {}).wrong - (1 - right_share(frames, links.linking))) < 0.06);
}

TEST_CASE("simulated particles move as far between rounded positions as the linked ones") {
  // If steps were turned in any direction, their mean square would be an eighth to a third too large.
  const double pixel = GENERATE(0.2, 0.3, 0.4);
  const auto frames = on_pixels(300, 12, 0.1, pixel, 1);
  SeriesOptions options;
  options.model = MotionModel::standing;
  const SeriesLinks links = link_series({}, frames, options);
  REQUIRE(is_rounded(links.points));
  CHECK(squared_steps(detail::simulate_like(links, {}, 4000, 1)) ==
        Approx(squared_steps(links)).epsilon(0.06));
}

TEST_CASE("simulated detections are as many if one of two in a pixel is missed") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2));
  const auto frames = one_a_pixel(on_pixels(300, 20, 0.21, 0.33, seed));
  SeriesOptions options;
  options.model = MotionModel::standing;
  const SeriesLinks links = link_series({}, frames, options);
  std::size_t all = 0;
  for (const Detections& d : detail::simulate_like(links, {}, 6000, 1).frames) all += d.size();
  CHECK(static_cast<double>(all) > 0.93 * static_cast<double>(links.points.size()));
}
