// Few particles that all move together: their shifts, predictions from these, and series linked with them.

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/motion/drift.h"
#include "tracking/link/motion/shared_motion.h"
#include "tracking/link/series/rounds.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;
using testing::all_right;
using testing::right_share;

namespace {

/// A normal vector in the plane with this deviation along each axis.
Vec3 scattered(std::mt19937_64& rng, double deviation) {
  std::normal_distribution<> normal(0, deviation);
  const double x = normal(rng);
  return {x, normal(rng), 0};
}

/// `n` particles at unit density in the plane that move by `own` along each axis independently, and by
/// shift(t) together after frame t. Detection k of every frame is particle k.
template <class Shift>
std::vector<Detections> drifting(int n, int frames, double own, std::uint64_t seed, const Shift& shift) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> place(0, std::sqrt(n));
  std::vector<Vec3> at;
  for (int k = 0; k < n; ++k) {
    const double x = place(rng);
    at.push_back({x, place(rng), 0});
  }
  std::vector<Detections> out(static_cast<std::size_t>(frames));
  for (int t = 0; t < frames; ++t) {
    Detections& d = out[static_cast<std::size_t>(t)];
    d.frame = t;
    for (Vec3& p : at) {
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
      p += scattered(rng, own);
    }
    for (Vec3& p : at) p += shift(t);
  }
  return out;
}

/// Shifts with a random direction and length in every frame, 0.35 to 1.05 spacings.
std::vector<Vec3> shaking(int frames, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> uniform;
  std::vector<Vec3> out;
  for (int t = 0; t < frames; ++t) {
    const double length = 0.35 + 0.7 * uniform(rng), angle = 2 * std::acos(-1.0) * uniform(rng);
    out.push_back({length * std::cos(angle), length * std::sin(angle), 0});
  }
  return out;
}

}  // namespace

TEST_CASE("a common shift is found without links, and none if there is none") {
  const int seed = GENERATE(1, 2, 3);
  const auto shifts = shaking(15, static_cast<std::uint64_t>(seed));
  const SeriesPoints moved = pool_points(drifting(8, 15, 0.03, static_cast<std::uint64_t>(seed), [&](int t) {
    return shifts[static_cast<std::size_t>(t)];
  }));
  double gain = 0;
  const std::vector<Vec3> found = likely_shifts({}, moved, &gain);
  CHECK(gain > 15);
  REQUIRE(found.size() == 15);
  for (std::size_t t = 0; t + 1 < found.size(); ++t)
    CHECK(std::hypot(found[t].x - shifts[t].x, found[t].y - shifts[t].y) < 0.1);
  CHECK(length_of(found.back()) == 0);
  const SeriesPoints still =
      pool_points(drifting(8, 15, 0.1, static_cast<std::uint64_t>(seed), [](int) { return Vec3{}; }));
  for (const Vec3& shift : likely_shifts({}, still, &gain)) CHECK(length_of(shift) < 0.2);
  CHECK(gain < 5);
  // Frames are independent, so shifts that move some detections onto others are by chance.
  std::mt19937_64 rng(static_cast<std::uint64_t>(seed));
  std::uniform_real_distribution<> place(0, 20);
  std::vector<Detections> chance(15);
  for (int t = 0; t < 15; ++t) {
    Detections& d = chance[static_cast<std::size_t>(t)];
    d.frame = t;
    for (int k = 0; k < 400; ++k) d.x_um.push_back(place(rng)), d.y_um.push_back(place(rng));
    d.z_um.resize(400, 0);
  }
  likely_shifts({}, pool_points(chance), &gain);
  CHECK(gain <= 0);
}

TEST_CASE("a detection's own link is not used for its predicted drift") {
  const Index n = 5;
  auto frames = drifting(n, 4, 0.01, 1, [](int) { return Vec3{0.5, 0, 0}; });
  frames[2].y_um[0] += 0.2;  // one moves elsewhere
  const SeriesPoints points = pool_points(frames);
  const Prediction drift = predict_by_drift({}, points, all_right(points, n), 2);
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(drift.by_lag[0][5 + k].x == Approx(0.5).margin(0.03));
    CHECK(drift.by_lag[0][5 + k].y == Approx(0).margin(k == 0 ? 0.02 : 0.09));
    CHECK(drift.by_lag[1][k].x == Approx(1).margin(0.06));
  }
}

TEST_CASE("scattered displacements predict hardly any drift") {
  const Index n = 6;
  const SeriesPoints points = pool_points(
      drifting(n, 40, 0.2, static_cast<std::uint64_t>(GENERATE(1, 2, 3)), [](int) { return Vec3{}; }));
  const Prediction drift = predict_by_drift({}, points, all_right(points, n), 1);
  double squares = 0, own = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    squares += dot(drift.by_lag[0][i], drift.by_lag[0][i]);
    own += 2 * 0.2 * 0.2 / (n - 1);  // mean of the others, not shrunk
  }
  CHECK(squares < 0.5 * own);
}

TEST_CASE("a few particles that drift farther than their spacing are linked with their drift") {
  const int seed = GENERATE(1, 2, 3), n = GENERATE(4, 10);
  const auto shifts = shaking(30, static_cast<std::uint64_t>(seed));
  const auto frames = drifting(n, 30, 0.03, static_cast<std::uint64_t>(seed),
                               [&](int t) { return shifts[static_cast<std::size_t>(t)]; });
  const SeriesLinks links = link_series({}, frames, {});
  CHECK(links.chosen == MotionModel::field);
  CHECK(right_share(frames, links.linking) > 0.97);
}

TEST_CASE("tracks continue if the stage jumps in one frame") {
  const auto frames = drifting(12, 20, 0.08, static_cast<std::uint64_t>(GENERATE(1, 2, 3)), [](int t) {
    return t == 9 ? Vec3{1.1, 0.4, 0} : Vec3{};
  });
  const SeriesLinks links = link_series({}, frames, {});
  CHECK(links.drift);
  // It would be 0.947 if all links of that frame were wrong.
  CHECK(right_share(frames, links.linking) > 0.96);
}

TEST_CASE("particles that move independently have no common drift") {
  const int seed = GENERATE(1, 2, 3, 4, 5), n = GENERATE(2, 3, 8);
  const auto frames = drifting(n, 40, 0.25, static_cast<std::uint64_t>(seed), [](int) { return Vec3{}; });
  CHECK_FALSE(link_series({}, frames, {}).drift);
}

TEST_CASE("particles that move as far as their spacing: chance neighbours are not taken for a drift") {
  constexpr int kParticles = 300;
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  const auto series = testing::walkers_moved(kParticles, 20, seed, [](std::mt19937_64& rng) {
    return [&rng](Vec3& p) {
      std::normal_distribution<> step(0, 0.627);  // 1 on average
      const auto within = [&](double x) {         // reflected at the walls of the box
        const double side = std::cbrt(kParticles), y = std::fmod(std::abs(x + step(rng)), 2 * side);
        return y > side ? 2 * side - y : y;
      };
      p.x = within(p.x), p.y = within(p.y), p.z = within(p.z);
    };
  });
  const SeriesLinks links = link_series({}, series.frames, {});
  CHECK_FALSE(links.drift);
  CHECK_FALSE(links.rotation);
  CHECK(testing::share_wrong(series, links) < 0.85);
}

TEST_CASE("links show whether particles rest") {
  const auto rest = [](int n, double own, const auto& shift) {
    const SeriesPoints points = pool_points(drifting(n, 20, own, 1, shift));
    const SeriesOptions options;
    int solved = 0;
    Rounds plain({1}, points, options, {}, solved);
    plain.plain(4, kPlainRounds);
    return rests({1}, plain);
  };
  const auto none = [](int) { return Vec3{}; };
  CHECK(rest(100, 0.1, none));
  // Particles that move far, or are too few, show nothing.
  CHECK_FALSE(rest(100, 0.5, none));
  CHECK_FALSE(rest(8, 0.05, none));
  // Motions too small for wrong links.
  CHECK_FALSE(rest(100, 0.03, [](int) { return Vec3{0.05, 0.02, 0}; }));
  CHECK_FALSE(rest(100, 0.03, [](int t) { return Vec3{0.1 * std::cos(t), 0.1 * std::sin(t), 0}; }));
  // One frame in which all move far.
  CHECK_FALSE(rest(100, 0.1, [](int t) { return t == 9 ? Vec3{1.1, 0.4, 0} : Vec3{}; }));
}
