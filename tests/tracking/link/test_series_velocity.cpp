// Persistence of motion if particles return, or if their speeds differ.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>
#include <motes/tracking/speed_density.h>

#include "tests/tracking/link/walkers.h"

using namespace motes;
using namespace motes::tracking;
using testing::right_share;

namespace {

std::size_t bin(double length) { return SpeedDensity::bin_of(length); }

/// `n` particles at unit density in the plane; move(k, place) moves particle k. Detection k of every frame is
/// particle k.
template <class Move>
std::vector<Detections> in_plane(int n, int frames, std::mt19937_64& rng, const Move& move) {
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
    for (std::size_t k = 0; k < at.size(); ++k) {
      const Vec3 found = move(k, at[k]);
      d.x_um.push_back(found.x), d.y_um.push_back(found.y), d.z_um.push_back(0);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("related speeds are more likely together, unrelated ones as likely as by themselves") {
  std::mt19937_64 rng(1);
  std::exponential_distribution<> length;
  std::vector<double> here, alike, other;
  for (int k = 0; k < 4000; ++k) {
    const double speed = k % 2 == 0 ? 0.1 : 1;
    here.push_back(speed * length(rng));
    alike.push_back(speed * length(rng));
  }
  other = alike;
  std::shuffle(other.begin(), other.end(), rng);
  const SpeedDensity together(here, alike);
  CHECK(together.log_ratio(bin(0.02), bin(0.02)) > 0.4);
  CHECK(together.log_ratio(bin(2), bin(2)) > 0.4);
  CHECK(together.log_ratio(bin(2), bin(0.02)) < -1);
  CHECK(together.parameters() == 49);
  // The ratio is normalised: its mean over pairs of independent lengths is 1.
  double sum = 0;
  for (std::size_t k = 0; k < here.size(); ++k)
    sum += std::exp(together.log_ratio(bin(here[k]), bin(other[k])));
  CHECK(sum / static_cast<double>(here.size()) == Approx(1).epsilon(0.1));
  const SpeedDensity apart(here, other);
  for (const double a : {0.02, 0.2, 2.0})
    for (const double b : {0.02, 0.2, 2.0}) CHECK(std::abs(apart.log_ratio(bin(a), bin(b))) < 0.5);
  CHECK(SpeedDensity().log_ratio(bin(1), bin(0)) == 0);
  CHECK(SpeedDensity(std::vector<double>(50, 1.0), std::vector<double>(50, 1.0)).log_ratio(bin(1), bin(1)) ==
        0);
}

TEST_CASE("lengths beyond the bins, such as 0, are in the first or last one") {
  CHECK(bin(0) == 0);
  CHECK(bin(1e-9) == 0);
  CHECK(bin(1e9) == bin(1e8));
  CHECK(bin(1) > bin(0.8));
}

TEST_CASE("particles with different speeds that turn are distinguished by speed") {
  std::mt19937_64 rng(static_cast<std::uint64_t>(GENERATE(1, 2, 3)));
  constexpr int kParticles = 60;
  std::uniform_real_distribution<> uniform;
  std::normal_distribution<> turn(0, 0.9);
  std::vector<double> speed, angle;
  for (int k = 0; k < kParticles; ++k)
    speed.push_back(0.15 + 0.6 * uniform(rng)), angle.push_back(6.28 * uniform(rng));
  const auto frames = in_plane(kParticles, 30, rng, [&](std::size_t k, Vec3& p) {
    angle[k] += turn(rng);
    p += speed[k] * Vec3{std::cos(angle[k]), std::sin(angle[k]), 0};
    return p;
  });
  const SeriesLinks links = link_series({}, frames, {});
  CHECK(links.persistent);
  CHECK(links.velocity.form == PersistenceForm::turning);
  CHECK(links.velocity.by_lag[0][0][0].speed.parameters() > 0);
  CHECK(right_share(frames, links.linking) > 0.9);
}

TEST_CASE("particles that return to their places are linked with persistence, others without") {
  std::mt19937_64 rng(static_cast<std::uint64_t>(GENERATE(1, 2, 3)));
  std::normal_distribution<> off(0, 0.2);
  const auto shaken = [&](Vec3 p) {
    p.x += off(rng);
    p.y += off(rng);
    return p;
  };
  const auto resting = in_plane(80, 20, rng, [&](std::size_t, Vec3& p) { return shaken(p); });
  const SeriesLinks rest = link_series({}, resting, {});
  CHECK(rest.persistent);
  CHECK(rest.velocity.beta() < -0.3);
  CHECK(rest.reason.find("particles return") != std::string::npos);
  const auto walking = in_plane(80, 20, rng, [&](std::size_t, Vec3& p) { return p = shaken(p); });
  CHECK_FALSE(link_series({}, walking, {}).persistent);
}

TEST_CASE("fast particles among resting ones stay fast, although their directions are random") {
  std::mt19937_64 rng(static_cast<std::uint64_t>(GENERATE(1, 2, 3)));
  std::uniform_real_distribution<> uniform;
  const auto frames = in_plane(40, 30, rng, [&](std::size_t k, Vec3& p) {
    const double angle = 6.28 * uniform(rng), length = (k < 12 ? 0.7 : 0.03) * (0.5 + uniform(rng));
    p += length * Vec3{std::cos(angle), std::sin(angle), 0};
    return p;
  });
  const SeriesLinks links = link_series({}, frames, {});
  CAPTURE(right_share(frames, links.linking), links.reason);
  CHECK(links.persistent);
  CHECK(right_share(frames, links.linking) > 0.9);
}

TEST_CASE("a speed that lasts is told from frames in which all are fast, and from an axis without motion") {
  std::mt19937_64 rng(static_cast<std::uint64_t>(GENERATE(1, 2)));
  std::normal_distribution<> normal;
  const bool together = GENERATE(false, true);
  CAPTURE(together);
  std::size_t moves = 0;
  const auto frames = in_plane(100, 12, rng, [&](std::size_t, Vec3& p) {
    const double length = together && moves++ / 100 % 3 != 0 ? 0.03 : 0.25;
    p += Vec3{length * normal(rng), together ? length * normal(rng) : 0, 0};
    return p;
  });
  CHECK_FALSE(link_series({}, frames, {}).persistent);
}

TEST_CASE("links between false detections are not taken for fast particles") {
  std::mt19937_64 rng(static_cast<std::uint64_t>(GENERATE(1, 2)));
  const int noise = GENERATE(150, 450);
  std::uniform_real_distribution<> uniform;
  std::normal_distribution<> step(0, 0.14);
  const Vec3 box{51, 51, 1.8};
  const auto anywhere = [&] {
    return Vec3{box.x * uniform(rng), box.y * uniform(rng), box.z * uniform(rng)};
  };
  std::vector<Vec3> particles(150);
  for (Vec3& p : particles) p = anywhere();
  std::vector<Detections> frames(16);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    frames[t].frame = static_cast<std::int32_t>(t);
    const auto add = [&](const Vec3& p) {
      frames[t].x_um.push_back(p.x), frames[t].y_um.push_back(p.y), frames[t].z_um.push_back(p.z);
    };
    for (Vec3& p : particles) add(p += Vec3{step(rng), step(rng), step(rng)});
    for (int k = 0; k < noise; ++k) add(anywhere());
  }
  const SeriesLinks links = link_series({}, frames, {});
  CAPTURE(noise, links.reason, links.links);
  CHECK_FALSE(links.persistent);
}

TEST_CASE("speeds that last are used beside a few false detections") {
  std::mt19937_64 rng(static_cast<std::uint64_t>(GENERATE(1, 2)));
  std::uniform_real_distribution<> uniform;
  auto frames = in_plane(200, 20, rng, [&](std::size_t k, Vec3& p) {
    const double angle = 6.28 * uniform(rng), length = 0.05 + 0.003 * static_cast<double>(k);
    return p += length * Vec3{std::cos(angle), std::sin(angle), 0};
  });
  for (Detections& d : frames)
    for (int k = 0; k < 20; ++k) {
      d.x_um.push_back(std::sqrt(200) * uniform(rng)), d.y_um.push_back(std::sqrt(200) * uniform(rng));
      d.z_um.push_back(0);
    }
  const SeriesLinks links = link_series({}, frames, {});
  CAPTURE(links.reason, links.links);
  CHECK(links.persistent);
}
