// Series whose links are not those of nearest neighbours: most particles rest, or all move together from
// frame to frame. Also the density of displacements that such series need.

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/radial_density.h>
#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/motion/field.h"
#include "tracking/link/pairs/partner_share.h"
#include "tracking/link/series/pairs.h"
#include "tracking/link/series/rounds.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;
using testing::direction;
using testing::right_share;

namespace {

/// `n` particles at unit density; step(rng, k, t) is the step of particle k from frame t. Detection k of
/// every frame is particle k.
template <class Step>
std::vector<Detections> particles(int n, int frames, std::uint64_t seed, const Step& step) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> place(0, std::cbrt(n));
  std::vector<Vec3> at(static_cast<std::size_t>(n));
  for (Vec3& p : at) p = {place(rng), place(rng), place(rng)};
  std::vector<Detections> out(static_cast<std::size_t>(frames));
  for (int t = 0; t < frames; ++t) {
    Detections& d = out[static_cast<std::size_t>(t)];
    d.frame = t;
    for (int k = 0; k < n; ++k) {
      Vec3& p = at[static_cast<std::size_t>(k)];
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
      const Vec3 s = step(rng, k, t);
      p = {p.x + s.x, p.y + s.y, p.z + s.z};
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a few pairs of frames show whether neighbours move together") {
  const bool together = GENERATE(true, false);
  std::vector<Vec3> shared(40);
  std::mt19937_64 all(5);
  for (Vec3& step : shared) step = direction(all);
  const auto frames = particles(200, 40, 1, [&](std::mt19937_64& rng, int, int t) {
    const Vec3 own = direction(rng);
    return together ? shared[static_cast<std::size_t>(t)] + 0.1 * own : 0.7 * own;
  });
  const SeriesPoints points = pool_points(frames);
  const SeriesLists lists(points);
  const auto gain = gain_of_some_pairs({}, points, "auto", lists);
  REQUIRE(gain);
  if (together)
    CHECK(*gain > 1);
  else
    CHECK(*gain < 0.15);
  CHECK(gain_of_some_pairs({2}, points, "auto", lists) == gain);
  // If there are only a few frames, all are linked anyway.
  const SeriesPoints few = pool_points(std::span(frames).first(8));
  CHECK(!gain_of_some_pairs({}, few, "auto", SeriesLists(few)));
}

TEST_CASE("particles that move are linked if most rest") {
  const auto frames = particles(200, 8, GENERATE(1, 2, 3), [](std::mt19937_64& rng, int k, int) {
    return (k % 5 < 3 ? 0.01 : 0.3) * direction(rng);
  });
  const SeriesLinks links = link_series({}, frames, {});
  CHECK(right_share(frames, links.linking) > 0.97);
  CHECK(links.links >= 1350);
}

TEST_CASE("a few links do not show by chance that particles keep their direction") {
  const double kept = GENERATE(0.0, 0.7);
  int persistent = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    std::normal_distribution<> normal;
    std::vector<Vec3> last(40);
    const auto frames = particles(40, 3, seed, [&](std::mt19937_64& rng, int k, int t) {
      const double x = normal(rng), y = normal(rng), z = normal(rng);
      Vec3& step = last[static_cast<std::size_t>(k)];
      const double fresh = 0.4 / std::sqrt(3) * (t == 0 ? 1 : std::sqrt(1 - kept * kept));
      return step = kept * step + fresh * Vec3{x, y, z};
    });
    persistent += link_series({1}, frames, {}).persistent;
  }
  CAPTURE(persistent);
  if (kept > 0)
    CHECK(persistent >= 27);
  else
    CHECK(persistent <= 3);
}

TEST_CASE("a sample that jumps in every frame is linked with its common motion") {
  Vec3 all;
  const auto frames = particles(25, 20, GENERATE(1, 2, 3), [&](std::mt19937_64& rng, int k, int) {
    if (k == 0) all = 0.6 * std::uniform_real_distribution<>(0.5, 1.5)(rng) * direction(rng);
    const Vec3 own = 0.05 * direction(rng);
    return Vec3{all.x + own.x, all.y + own.y, all.z + own.z};
  });
  const SeriesLinks links = link_series({}, frames, {});
  CHECK(links.chosen == MotionModel::field);
  CHECK(right_share(frames, links.linking) > 0.97);
}

TEST_CASE("particles that move far are not taken for false detections if most hardly move") {
  const int n = 25, frames = 20;
  const auto seen = particles(n, frames, GENERATE(1, 2, 3), [](std::mt19937_64& rng, int k, int) {
    return (k % 5 < 3 ? 0.02 : 0.5) * direction(rng);
  });
  const SeriesLinks links = link_series({}, seen, {});
  // Without those that move far it would be 0.6.
  CHECK(right_share(seen, links.linking) > 0.75);
  CHECK(links.links > 0.95 * n * (frames - 1));
}

TEST_CASE("few particles in few frames that move far, unlike others, are particles") {
  // Chance explains their steps as well as links do, if they are taken for false detections.
  const int n = 20, frames = 10;
  int all_linked = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto seen = particles(n, frames, seed, [](std::mt19937_64& rng, int k, int) {
      const double length = std::uniform_real_distribution<>(0.5, 1.5)(rng);
      return (k % 10 < 7 ? 0.05 : 0.6) * length * direction(rng);
    });
    all_linked += link_series({1}, seen, {}).links > 0.95 * n * (frames - 1);
  }
  CHECK(all_linked >= 9);
}

TEST_CASE("neighbours that hardly move for long and then far, together, are linked throughout") {
  const int n = 100, frames = 10, still = 6;
  const double side = std::cbrt(n);
  std::mt19937_64 rng(GENERATE(1, 2, 3));
  std::uniform_real_distribution<> place(0, side);
  std::vector<Vec3> at(n);
  for (Vec3& p : at) p = {place(rng), place(rng), place(rng)};
  std::vector<Detections> seen(frames);
  for (int t = 0; t < frames; ++t) {
    Detections& d = seen[static_cast<std::size_t>(t)];
    d.frame = t;
    for (Vec3& p : at) {
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
      p = p + 0.06 * direction(rng);
      if (t >= still) p.x += 2 * p.x / side - 1, p.y -= 2 * p.y / side - 1;
    }
  }
  const SeriesLinks links = link_series({1}, seen, {});
  CHECK(links.chosen == MotionModel::field);
  CHECK(right_share(seen, links.linking) > 0.99);
}

TEST_CASE("pairs of frames show a share of detections that surely have partners") {
  std::mt19937_64 rng(GENERATE(1, 2, 3));
  std::uniform_real_distribution<> place(0, 5);
  // `replaced` of 125 particles are at random places in every frame.
  const auto share_of = [&](int replaced) {
    auto frames = particles(125, 10, 1, [&](std::mt19937_64& g, int, int) { return 0.1 * direction(g); });
    for (Detections& d : frames)
      for (std::size_t k = 0; k < static_cast<std::size_t>(replaced); ++k)
        d.x_um[k] = place(rng), d.y_um[k] = place(rng), d.z_um[k] = place(rng);
    return sure_partners({}, pool_points(frames));
  };
  CHECK(share_of(0) > 0.95);
  CHECK(share_of(60) == Approx(65.0 / 125).margin(0.08));
  CHECK(share_of(125) < 0.06);
}

TEST_CASE("chance does not show partners, for any density of the next frame") {
  // Every pair of frames is followed by an empty one. No detection has a partner.
  const auto [rows, ratio] = GENERATE(table<int, int>({{100, 1}, {100, 2}, {100, 8}, {25, 1}}));
  double sum = 0;
  const int seeds = 10;
  for (int seed = 1; seed <= seeds; ++seed) {
    std::mt19937_64 rng(static_cast<std::uint64_t>(seed));
    std::uniform_real_distribution<> place(0, std::cbrt(rows));
    std::vector<Detections> frames(60);
    for (int t = 0; t < 60; ++t) {
      Detections& d = frames[static_cast<std::size_t>(t)];
      d.frame = t;
      for (int k = 0; k < (t % 3 == 0 ? rows : t % 3 == 1 ? ratio * rows : 0); ++k)
        d.x_um.push_back(place(rng)), d.y_um.push_back(place(rng)), d.z_um.push_back(place(rng));
    }
    sum += sure_partners({}, pool_points(frames));
  }
  CAPTURE(rows, ratio);
  CHECK(sum / seeds <
        // Few detections: with two deviations subtracted, a far step would look false.
        (rows == 25 ? 0.2 : 0.08));
}

TEST_CASE("links frame to frame stay within the gate") {
  const auto frames = particles(
      50, 5, 1, [](std::mt19937_64& rng, int k, int) { return (k == 0 ? 0.2 : 0.02) * direction(rng); });
  const SeriesPoints points = pool_points(frames);
  const SeriesLinking all = link_pair_by_pair({}, points, 0.3), near = link_pair_by_pair({}, points, 0.1);
  CHECK(all.links() == 50 * 4);
  CHECK(near.links() < 50 * 4);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (all.next[i] >= 0) CHECK(all.previous[static_cast<std::size_t>(all.next[i])] == static_cast<Index>(i));
    if (near.next[i] >= 0) CHECK(length_of(residual(points, {}, static_cast<Index>(i), near.next[i])) <= 0.1);
  }
}

TEST_CASE("densities of displacements integrate to 1 and stay within their reach") {
  std::mt19937_64 rng(GENERATE(1, 2));
  const int dims = GENERATE(1, 2, 3);
  // Most lengths are about 1, some up to a hundred times as long.
  const double farthest = GENERATE(1.0, 7.0, 100.0);
  std::vector<double> lengths;
  for (int k = 0; k < 2000; ++k)
    lengths.push_back((k % 10 == 0 ? farthest : 1) * std::uniform_real_distribution<>(0.5, 1.5)(rng));
  const RadialDensity density(lengths, dims, 1.5 * farthest);
  const double surface = dims == 1 ? 2 : dims == 2 ? 2 * std::numbers::pi : 4 * std::numbers::pi;
  double mass = 0;
  for (double low = 0; low < 400; low += 0.01)
    mass += 0.01 * surface * std::pow(low + 0.005, dims - 1) * std::exp(density.log_density(low + 0.005));
  // Between the centres of bins the density is interpolated linearly.
  CHECK(mass == Approx(1).epsilon(0.15));
  // Steps of the reach are wider than narrow bins.
  for (const double level : {0.0, -2.0, -5.0, -8.0, -12.0, -16.0}) {
    const double reach = density.reach(level);
    for (double u = reach; u < 400; u += 0.05) REQUIRE(density.log_density(u) <= level + 0.1);
    for (double u = 0; u < 400; u += 0.73)
      for (double v = u; v < 400; v += 7.1) REQUIRE(density.most_beyond(u) >= density.log_density(v) - 1e-12);
  }
}

TEST_CASE("log_densities has the same bits as log_density") {
  const int dims = GENERATE(1, 2, 3);
  std::mt19937_64 rng(1);
  std::vector<double> lengths(500);
  for (double& length : lengths) length = std::exponential_distribution<>(1)(rng);
  for (const RadialDensity& density : {RadialDensity(dims), RadialDensity(lengths, dims, 4)})
    for (const std::size_t count : {0, 1, 7, 8, 17}) {
      std::vector<double> many(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(count)), each;
      for (double& u : many) each.push_back(density.log_density(u = 100 * u * u * u));
      density.log_densities(many);
      CHECK(many == each);
    }
  for (double u = 0; u < 1e6; u = 1.1 * u + 0.01)
    REQUIRE(student_density(u, dims) == Approx(std::exp(student_log_density(u, dims))).epsilon(1e-13));
}

TEST_CASE("particles that keep their direction are linked if they move as far as their spacing") {
  constexpr int kParticles = 500, kFrames = 20;
  constexpr double kPersistence = 0.9, kSigma = 0.42;  // steps as long as the distance of nearest neighbours
  const double side = std::cbrt(kParticles);
  std::mt19937_64 rng(static_cast<std::uint64_t>(GENERATE(1, 2)));
  std::uniform_real_distribution<> place(0, side);
  std::normal_distribution<> normal(0, kSigma);
  std::vector<std::array<double, 3>> at(kParticles), step(kParticles);
  for (auto& p : at)
    for (double& x : p) x = place(rng);
  for (auto& v : step)
    for (double& x : v) x = normal(rng);
  std::vector<Detections> frames(kFrames);
  for (int t = 0; t < kFrames; ++t) {
    Detections& d = frames[static_cast<std::size_t>(t)];
    d.frame = t;
    for (std::size_t k = 0; k < at.size(); ++k) {
      d.x_um.push_back(at[k][0]), d.y_um.push_back(at[k][1]), d.z_um.push_back(at[k][2]);
      for (std::size_t a = 0; a < 3; ++a) {
        double &x = at[k][a], &v = step[k][a];
        x += v;
        v = kPersistence * v + std::sqrt(1 - kPersistence * kPersistence) * normal(rng);
        if (x >= 0 && x <= side) continue;  // reflected at the walls of the box
        x = x < 0 ? -x : 2 * side - x;
        v = -v;
      }
    }
  }
  const SeriesLinks links = link_series({}, frames, {});
  CHECK(links.joint);
  CHECK(right_share(frames, links.linking) > 0.85);
}

TEST_CASE("a second start searches candidates again for another model") {
  const auto frames =
      particles(300, 12, 1, [](std::mt19937_64& rng, int, int) { return 0.25 * direction(rng); });
  const SeriesPoints points = pool_points(frames);
  const SeriesOptions options;
  int solved = 0;
  const auto start_from = [&](const SeriesLinking& links, int rounds) {
    Rounds out({1}, points, options, {}, solved);
    out.plain_from(links, 4, rounds, std::numeric_limits<double>::infinity());
    return out;
  };
  // A start that expects far more gaps than there are.
  SeriesLinking few = link_pair_by_pair({1}, points, options.gate);
  for (std::size_t i = 0; i < few.next.size(); ++i)
    if (i % 3 != 0 && few.next[i] >= 0)
      few.previous[static_cast<std::size_t>(few.next[i])] = -1, few.next[i] = -1;
  CHECK(start_from(few, 1).candidates_.to != start_from(few, 2).candidates_.to);
}
