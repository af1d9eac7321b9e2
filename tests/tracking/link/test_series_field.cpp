// Samples that deform by more than their spacing between frames.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"

using namespace motes;
using namespace motes::tracking;

namespace {

double normal_of(std::mt19937_64& rng) { return std::normal_distribution<>()(rng); }

Vec3 normals(std::mt19937_64& rng, double deviation) {
  const double x = deviation * normal_of(rng), y = deviation * normal_of(rng);
  return {x, y, deviation * normal_of(rng)};
}

/// `n` particles at unit density in a ball, each moved in every frame by a sum of random plane waves, whose
/// length is about the ball's radius, and by about `own` at random. Detection k of every frame is particle k.
std::vector<Detections> deforming(int n, int frames, double flow, double own, std::uint64_t seed) {
  constexpr int kWaves = 12;
  std::mt19937_64 rng(seed);
  const double radius = std::cbrt(3 * n / (4 * std::acos(-1.0)));
  std::uniform_real_distribution<> place(-radius, radius), phase(0, 2 * std::acos(-1.0));
  std::vector<Vec3> at;
  while (static_cast<int>(at.size()) < n) {
    const double x = place(rng), y = place(rng);
    if (const Vec3 p{x, y, place(rng)}; length_of(p) < radius) at.push_back(p);
  }
  struct Wave {
    Vec3 number, height;
    double phase;
  };
  std::vector<Detections> out(static_cast<std::size_t>(frames));
  for (int t = 0; t < frames; ++t) {
    Detections& d = out[static_cast<std::size_t>(t)];
    d.frame = t;
    for (const Vec3& p : at) d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
    std::vector<Wave> waves;
    for (int w = 0; w < kWaves; ++w) {
      const Vec3 number = normals(rng, 2 / radius);
      waves.push_back({number, normals(rng, flow / std::sqrt(kWaves)), phase(rng)});
    }
    for (Vec3& p : at) {
      Vec3 step = normals(rng, own / std::sqrt(3));
      for (const Wave& w : waves) {
        const double c = std::cos(w.number.x * p.x + w.number.y * p.y + w.number.z * p.z + w.phase);
        step += {c * w.height.x, c * w.height.y, c * w.height.z};
      }
      p += step;
    }
  }
  return out;
}

/// A school in two dimensions, at unit density between reflecting walls: each swims `step` a frame, give or
/// take 40 %, and turns towards the mean direction of those within 1.5. Detection k of every frame is
/// particle k.
std::vector<Detections> school(int n, int frames, double step, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const double side = std::sqrt(n);
  std::uniform_real_distribution<> place(0, side), turn(-std::acos(-1.0), std::acos(-1.0)), pace(0.6, 1.4);
  std::vector<double> x, y, heading;
  for (int k = 0; k < n; ++k) x.push_back(place(rng)), y.push_back(place(rng)), heading.push_back(turn(rng));
  const auto bounce = [side](double& p, double& v) {
    if (p + v < 0 || p + v > side) v = -v;
    p += v;
  };
  std::vector<Detections> out(static_cast<std::size_t>(frames));
  for (int t = 0; t < frames; ++t) {
    Detections& d = out[static_cast<std::size_t>(t)];
    d.frame = t;
    d.x_um = x, d.y_um = y, d.z_um.assign(x.size(), 0);
    std::vector<double> to = heading;
    for (std::size_t k = 0; k < x.size(); ++k) {
      double east = 0, north = 0;
      for (std::size_t j = 0; j < x.size(); ++j)
        if (std::hypot(x[j] - x[k], y[j] - y[k]) < 1.5)
          east += std::cos(heading[j]), north += std::sin(heading[j]);
      to[k] += 0.4 * std::remainder(std::atan2(north, east) - heading[k], 2 * std::acos(-1.0)) +
               0.25 * normal_of(rng);
    }
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double speed = step * pace(rng);
      double east = speed * std::cos(to[k]), north = speed * std::sin(to[k]);
      bounce(x[k], east), bounce(y[k], north);
      heading[k] = std::atan2(north, east);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("particles that move far by themselves do not move with their neighbours") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  CHECK(link_series({2}, deforming(150, 4, 0, 1.4, seed), {}).chosen != MotionModel::field);
  CHECK(link_series({2}, deforming(150, 6, 0.9, 0.2, seed), {}).chosen == MotionModel::field);
}

TEST_CASE("wrong links that agree with each other do not pass for neighbours that move together") {
  const std::vector<Detections> frames = school(40, 40, 0.5, GENERATE(3, 6));
  const SeriesLinks links = link_series({2}, frames, {});
  CHECK(links.chosen == MotionModel::joint);
  CHECK(testing::right_share(frames, links.linking) > 0.68);
}
