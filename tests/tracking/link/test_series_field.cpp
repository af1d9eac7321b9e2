// Samples that deform by more than their spacing between frames.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

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

}  // namespace

TEST_CASE("particles that move far by themselves do not move with their neighbours") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  CHECK(link_series({2}, deforming(150, 4, 0, 1.4, seed), {}).chosen != MotionModel::field);
  CHECK(link_series({2}, deforming(150, 6, 0.9, 0.2, seed), {}).chosen == MotionModel::field);
}
