// Links over gaps: their number is that of missed particles, not that by chance.

#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/series/gap_shares.h"

using namespace motes;
using namespace motes::tracking;

namespace {

struct Walk {
  int particles = 100, frames = 40;
  double step = 2;       ///< rms displacement per frame, all axes together
  double turnover = 0;   ///< share of particles replaced per frame
  double missed = 0;     ///< share of detections missed
  double clutter = 0;    ///< false detections per particle
  double switching = 0;  ///< share that begins or ends a straight path per frame
  double side = 512, depth = 10;
};

struct Series {
  std::vector<Detections> frames;
  std::vector<std::vector<int>> particle;  ///< of each detection; -1 false
};

Series walk(const Walk& how, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<> normal(0, how.step / std::sqrt(3));
  std::uniform_real_distribution<> chance;
  const auto somewhere = [&] {
    const double x = chance(rng) * how.side, y = chance(rng) * how.side, z = chance(rng) * how.depth;
    return Vec3{x, y, z};
  };
  struct Particle {
    Vec3 at, velocity;
    int number;
    bool directed = false;
  };
  const auto turn = [&](Particle& p) {
    const double angle = 2 * std::acos(-1.0) * chance(rng), speed = 2 + 3 * chance(rng);
    p.velocity = {speed * std::cos(angle), speed * std::sin(angle), 0};
    p.directed = !p.directed;
  };
  std::vector<Particle> all;
  int numbers = 0;
  for (int k = 0; k < how.particles; ++k) all.push_back({somewhere(), {}, numbers++});
  Series out;
  for (int t = 0; t < how.frames; ++t) {
    Detections d;
    d.frame = t;
    std::vector<int> of;
    const auto add = [&](const Vec3& p, int particle) {
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
      of.push_back(particle);
    };
    for (Particle& p : all) {
      if (t > 0 && chance(rng) < how.turnover) p = {somewhere(), {}, numbers++};
      if (chance(rng) < how.switching) turn(p);
      if (p.directed) p.at.x += p.velocity.x, p.at.y += p.velocity.y;
      p.at.x += normal(rng), p.at.y += normal(rng), p.at.z += normal(rng);
      if (chance(rng) >= how.missed) add(p.at, p.number);
    }
    for (int k = 0; k < how.particles; ++k) {
      double left = how.clutter;
      do
        if (chance(rng) < left) add(somewhere(), -1);
      while (--left > 0);
    }
    out.frames.push_back(std::move(d));
    out.particle.push_back(std::move(of));
  }
  return out;
}

/// Numbers of links over gaps: made, right ones of these, and true ones.
struct Gaps {
  int made = 0, right = 0, there = 0;
};

Gaps gaps_of(const Series& series, const SeriesLinks& links, int most_lag) {
  Gaps out;
  std::vector<int> particle;
  for (const auto& frame : series.particle) particle.insert(particle.end(), frame.begin(), frame.end());
  for (std::size_t i = 0; i < links.points.size(); ++i) {
    const auto j = links.linking.next[i];
    if (j < 0 || links.points.slot[static_cast<std::size_t>(j)] == links.points.slot[i] + 1) continue;
    ++out.made;
    out.right += particle[i] >= 0 && particle[i] == particle[static_cast<std::size_t>(j)];
  }
  std::vector<int> last(1 + static_cast<std::size_t>(*std::max_element(particle.begin(), particle.end())),
                        -1);
  for (std::size_t t = 0; t < series.particle.size(); ++t)
    for (const int p : series.particle[t]) {
      if (p < 0) continue;
      int& before = last[static_cast<std::size_t>(p)];
      const int lag = static_cast<int>(t) - before;
      out.there += before >= 0 && lag > 1 && lag <= most_lag;
      before = static_cast<int>(t);
    }
  return out;
}

}  // namespace

TEST_CASE("if particles come and go and none is missed, hardly any link is over a gap") {
  for (const int particles : {100, 500}) {
    Gaps all;
    std::int64_t links = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Walk how;
      how.particles = particles;
      how.turnover = 0.06;
      how.switching = 0.1;
      const Series series = walk(how, seed);
      const SeriesLinks found = link_series({2}, series.frames, {});
      all.made += gaps_of(series, found, 4).made;
      links += found.links;
    }
    INFO(particles << " particles: " << all.made << " links over gaps, of " << links);
    CHECK(500 * all.made <= links);
  }
}

TEST_CASE("missed particles are linked over their gaps, among particles that come and go too") {
  for (const Walk& how :
       {Walk{200, 30, 2, 0, 0.1, 0}, Walk{200, 30, 2, 0, 0.3, 0}, Walk{200, 30, 2, 0.04, 0.1, 0},
        Walk{200, 30, 2, 0, 0.1, 0.1}, Walk{200, 30, 2, 0.04, 0.2, 0.1}}) {
    Gaps all;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Series series = walk(how, seed);
      const Gaps one = gaps_of(series, link_series({2}, series.frames, {}), 4);
      all.made += one.made, all.right += one.right, all.there += one.there;
    }
    INFO("missed " << how.missed << ", turnover " << how.turnover << ", clutter " << how.clutter << ": "
                   << all.made << " made, " << all.right << " right, " << all.there << " there");
    CHECK(all.right >= 0.95 * all.there);
    CHECK(all.right >= 0.95 * all.made);
  }
}

TEST_CASE("gaps are linked if particles that turn move more than half their spacing") {
  // The direction of a step is the mean of the last and a random one; a twentieth is missed, and as many
  // detections are false.
  constexpr int kParticles = 300, kFrames = 20;
  const double side = std::cbrt(kParticles);
  std::mt19937_64 rng(7);
  std::uniform_real_distribution<> chance;
  std::vector<Vec3> at, way;
  for (int k = 0; k < kParticles; ++k)
    at.push_back(testing::uniform_point(rng, side)), way.push_back(testing::direction(rng));
  Series series;
  for (int t = 0; t < kFrames; ++t) {
    Detections d;
    d.frame = t;
    std::vector<int> of;
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (chance(rng) >= 0.05) testing::add(d, at[k]), of.push_back(static_cast<int>(k));
      if (chance(rng) < 0.05) testing::add(d, testing::uniform_point(rng, side)), of.push_back(-1);
      way[k] += testing::direction(rng);
      way[k] = 1 / length_of(way[k]) * way[k];
      at[k] += 0.6 * (0.5 + chance(rng)) * way[k];
      const auto bounce = [side](double& x, double& v) {
        if (x < 0 || x > side) x = x < 0 ? -x : 2 * side - x, v = -v;
      };
      bounce(at[k].x, way[k].x), bounce(at[k].y, way[k].y), bounce(at[k].z, way[k].z);
    }
    series.frames.push_back(std::move(d));
    series.particle.push_back(std::move(of));
  }
  const SeriesLinks links = link_series({2}, series.frames, {});
  CHECK(links.joint);
  const Gaps gaps = gaps_of(series, links, 4);
  INFO(gaps.made << " made, " << gaps.right << " right, " << gaps.there << " there");
  CHECK(gaps.right > 0.2 * gaps.there);
  CHECK(gaps.right > 0.5 * gaps.made);
}

TEST_CASE("shares of gaps are those of the links minus those by chance") {
  // Ten tracks of three detections, far apart; every other one has a gap before the last detection.
  std::vector<Detections> frames(10);
  for (int t = 0; t < 10; ++t) frames[static_cast<std::size_t>(t)].frame = t;
  const auto add = [&](int t, double x, double y) {
    Detections& d = frames[static_cast<std::size_t>(t)];
    d.x_um.push_back(x), d.y_um.push_back(y), d.z_um.push_back(0);
  };
  for (int k = 0; k < 10; ++k)
    for (const int t : {0, 1, k % 2 == 0 ? 2 : 3}) add(t, 100 * k + 0.01 * t, 0);
  const SeriesPoints points = pool_points(frames);
  SeriesLinking linking = SeriesLinking::none(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = i + 1; j < points.size(); ++j)
      if (linking.next[i] < 0 && linking.previous[j] < 0 && points.slot[j] > points.slot[i] &&
          std::abs(points.at[j].x - points.at[i].x) < 1) {
        linking.next[i] = static_cast<matching::Index>(j);
        linking.previous[j] = static_cast<matching::Index>(i);
      }
  SeriesModel model = first_model(points, {}, 2);
  model = fit_model(points, {}, linking, model);
  // All rows have both lags: 15 links over one frame, 5 over two; half a link is added to each.
  CHECK(model.elapsed[1] == Approx(5.5 / 21).epsilon(0.02));
  // The shares do not depend on their start values.
  for (const int threads : {1, 3}) {
    SeriesModel again = model;
    again.elapsed = {0.5, 0.5}, again.end = again.birth = again.clutter = 0.2;
    fit_shares({threads}, points, {}, linking, {}, nullptr, again);
    CHECK(again.elapsed[1] == Approx(model.elapsed[1]).epsilon(1e-2));
    CHECK(again.end == Approx(model.end).epsilon(1e-2));
    CHECK(again.birth == Approx(model.birth).epsilon(1e-2));
    CHECK(again.clutter == model.clutter);
  }
}

TEST_CASE("in short series shares of false detections, gaps and ends are those of the data") {
  double clutter = 0, gaps = 0, end = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Walk how;
    how.frames = 5;
    how.missed = 0.1;
    how.clutter = 0.05;
    const SeriesModel model = link_series({2}, walk(how, seed).frames, {}).model;
    clutter += model.clutter / 3, gaps += model.elapsed[1] / 3, end += model.end / 3;
  }
  INFO("false " << clutter << ", gaps of one frame " << gaps << ", ends " << end);
  CHECK(clutter == Approx(0.053).epsilon(0.3));
  CHECK(gaps == Approx(0.09).epsilon(0.3));
  CHECK(end < 0.035);
}

TEST_CASE("if a tenth of a few particles is replaced in each frame, there are no far links instead") {
  constexpr int kSeeds = 6;
  double end = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Walk how;
    how.particles = 20, how.frames = 30;
    how.turnover = 0.1;
    how.step = 2, how.side = how.depth = 16;
    end += link_series({2}, walk(how, seed).frames, {}).model.end / kSeeds;
  }
  INFO("ends " << end);
  CHECK(end > 0.065);
}

TEST_CASE("particles are linked although most detections are false") {
  double clutter = 0;
  std::int64_t right = 0, made = 0, there = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Walk how;
    how.turnover = 0.04, how.missed = 0.07;
    how.clutter = 2.5, how.step = 3;
    const Series series = walk(how, seed);
    const SeriesLinks links = link_series({2}, series.frames, {});
    clutter += links.model.clutter / 3;
    made += links.links;
    std::vector<int> particle;
    for (const auto& frame : series.particle) particle.insert(particle.end(), frame.begin(), frame.end());
    std::vector<char> seen;
    for (std::size_t i = 0; i < particle.size(); ++i) {
      const auto p = static_cast<std::size_t>(std::max(particle[i], 0));
      seen.resize(std::max(seen.size(), p + 1), 0);
      if (particle[i] < 0) continue;
      there += seen[p];
      seen[p] = 1;
      const auto j = links.linking.next[i];
      right += j >= 0 && particle[static_cast<std::size_t>(j)] == particle[i];
    }
  }
  const double f1 = 2 * static_cast<double>(right) / static_cast<double>(made + there);
  INFO("false " << clutter << ", F1 of links " << f1);
  CHECK(clutter > 0.6);
  CHECK(f1 > 0.85);
}
