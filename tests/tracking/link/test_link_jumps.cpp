// Detections far from their particle, and false ones that are near a track by chance.

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tracking/link/series/link_jumps.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;

namespace {

constexpr int kParticles = 30, kFrames = 20;
constexpr double kSide = 3.1;

/// Particles that hardly move; detection k of every frame is particle k.
std::vector<Detections> slow(std::mt19937_64& rng) {
  std::uniform_real_distribution<> place(0, kSide);
  std::normal_distribution<> step(0, 0.01);
  std::vector<Vec3> at(kParticles);
  for (Vec3& p : at) p = {place(rng), place(rng), place(rng)};
  std::vector<Detections> out(kFrames);
  for (int t = 0; t < kFrames; ++t) {
    Detections& d = out[static_cast<std::size_t>(t)];
    d.frame = t;
    for (Vec3& p : at) {
      p = {p.x + step(rng), p.y + step(rng), p.z + step(rng)};
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
    }
  }
  return out;
}

std::int64_t right_links(const SeriesLinks& links) {
  std::int64_t right = 0;
  for (Index i = 0; i < kParticles * (kFrames - 1); ++i)
    right += links.linking.next[static_cast<std::size_t>(i)] == i + kParticles;
  return right;
}

}  // namespace

TEST_CASE("tracks keep detections that are far off for one frame") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    INFO("seed " << seed);
    std::mt19937_64 rng(seed);
    std::vector<Detections> series = slow(rng);
    for (int t = 3; t < kFrames - 4; t += 2)
      series[static_cast<std::size_t>(t)].x_um[static_cast<std::size_t>(3 * t % kParticles)] += 0.5;
    SeriesOptions options;
    for (const auto model : {MotionModel::standing, MotionModel::automatic}) {
      options.model = model;
      CHECK(right_links(link_series({}, series, options)) == kParticles * (kFrames - 1));
    }
  }
}

TEST_CASE("false detections near a missed particle by chance are not taken for jumps") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    INFO("seed " << seed);
    std::mt19937_64 rng(seed);
    std::uniform_real_distribution<> place(0, kSide);
    const std::vector<Detections> series = slow(rng);
    std::vector<Detections> seen(kFrames);
    for (std::size_t t = 0; t < seen.size(); ++t) {
      seen[t].frame = static_cast<std::int32_t>(t);
      for (std::size_t k = 0; k < kParticles + 4; ++k) {
        const bool particle = k < kParticles;
        if (particle && t > 0 && t + 1 < seen.size() && place(rng) < 0.1 * kSide) continue;
        seen[t].x_um.push_back(particle ? series[t].x_um[k] : place(rng));
        seen[t].y_um.push_back(particle ? series[t].y_um[k] : place(rng));
        seen[t].z_um.push_back(particle ? series[t].z_um[k] : place(rng));
      }
    }
    SeriesOptions options;
    options.model = MotionModel::standing;
    const SeriesLinks links = link_series({}, seen, options);
    CHECK(links.gap_links > 20);
    CHECK(links.jumped.size() < 3);
  }
}

TEST_CASE("jumps are the same as by brute force") {
  std::mt19937_64 rng(GENERATE(1, 2, 3, 4, 5, 6));
  std::uniform_real_distribution<> place(0, kSide);
  const std::vector<Detections> frames = slow(rng);
  SeriesPoints points = pool_points(frames);
  // Tracks with gaps, and detections at any distance from them.
  SeriesLinking links = SeriesLinking::none(points.size());
  const auto tie = [&](Index i, Index j) {
    links.next[static_cast<std::size_t>(i)] = j, links.previous[static_cast<std::size_t>(j)] = i;
  };
  for (Index k = 0; k < kParticles; ++k)
    for (Index t = 0, from = 0; t + 1 < kFrames; t = from) {
      from = t + 1;
      if (from + 1 < kFrames && place(rng) < 0.06 * kSide) {
        Vec3& passed = points.at[static_cast<std::size_t>(from * kParticles + k)];
        passed.x += place(rng) < 0.5 * kSide ? 0.05 : place(rng);
        ++from;
      }
      tie(t * kParticles + k, from * kParticles + k);
    }
  const LinkJumps found = keep_jumps(points, links);
  double alone = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    alone += links.next[i] < 0 && links.previous[i] < 0 ? 1.0 / static_cast<double>(points.size()) : 0.0;

  struct Near {
    double chance;
    Index from, at;
  };
  std::vector<Near> all;
  double asked = 0;
  for (Index i = 0; i < static_cast<Index>(points.size()); ++i) {
    const Index j = links.next[static_cast<std::size_t>(i)];
    if (j < 0 || j - i < 2 * kParticles) continue;
    ++asked;
    const Vec3 &p = points.at[static_cast<std::size_t>(i)], &q = points.at[static_cast<std::size_t>(j)];
    Near near{1e300, i, -1};
    for (Index k = (i / kParticles + 1) * kParticles; k < (i / kParticles + 2) * kParticles; ++k) {
      if (links.next[static_cast<std::size_t>(k)] >= 0 || links.previous[static_cast<std::size_t>(k)] >= 0)
        continue;
      const Vec3& r = points.at[static_cast<std::size_t>(k)];
      const double length = length_of({r.x - (p.x + q.x) / 2, r.y - (p.y + q.y) / 2, r.z - (p.z + q.z) / 2});
      const double chance = alone * points.density[static_cast<std::size_t>(i / kParticles + 1)] *
                            ball_volume(points.dims, length);
      if (chance < near.chance) near.chance = chance, near.at = k;
    }
    if (near.at >= 0) all.push_back(near);
  }
  // As many as possible of the nearest ones, of which at most a tenth is expected by chance.
  std::size_t sure = 0;
  double limit = 0;
  for (const Near& one : all) {
    std::size_t nearer = 0;
    for (const Near& other : all) nearer += other.chance <= one.chance;
    if (one.chance * asked <= 0.1 * static_cast<double>(nearer) && nearer > sure)
      sure = nearer, limit = one.chance;
  }
  INFO(asked << " left out, " << sure << " of them near");
  std::vector<Index> expected;
  for (const Near& one : all)
    if (sure >= 2 && one.chance <= limit) expected.push_back(one.at);
  std::sort(expected.begin(), expected.end());
  // If two gaps have the same nearest detection, it belongs to the nearer one.
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  CHECK(found.jumped == expected);
  for (const Index k : expected) {
    const auto i = static_cast<std::size_t>(k);
    CHECK(found.linking.next[static_cast<std::size_t>(found.linking.previous[i])] == k);
    CHECK(found.linking.previous[static_cast<std::size_t>(found.linking.next[i])] == k);
  }
  CHECK(keep_jumps(points, links, 1e-6).jumped.empty());
}

TEST_CASE("a given gate grows with the frames that the links of a jump span") {
  constexpr Index kCount = 30, kMissed = 5;
  std::vector<Detections> frames(4);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    frames[t].frame = static_cast<std::int32_t>(t);
    for (Index k = 0; k < kCount; ++k) {
      frames[t].x_um.push_back(k % 6 + 0.3 * static_cast<double>(t));
      frames[t].y_um.push_back(k / 6 + (t == 2 && k < kMissed ? 50 : 0));
      frames[t].z_um.push_back(0);
    }
  }
  const SeriesPoints points = pool_points(frames);
  SeriesLinking links = SeriesLinking::none(points.size());
  for (Index k = 0; k < kCount; ++k)
    for (Index t = 0; t < 3; t = k < kMissed ? 3 : t + 1) {
      const Index i = t * kCount + k, j = (k < kMissed ? 3 : t + 1) * kCount + k;
      links.next[static_cast<std::size_t>(i)] = j, links.previous[static_cast<std::size_t>(j)] = i;
    }
  // The distance from frame 0 to 1 is 0.3, from 1 to 3 twice that.
  const std::vector<Index> passed{kCount, kCount + 1, kCount + 2, kCount + 3, kCount + 4};
  CHECK(keep_jumps(points, links, 0.35).jumped == passed);
  CHECK(keep_jumps(points, links, 0.29).jumped.empty());
}
