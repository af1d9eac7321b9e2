// Properties that tell particles from false detections: links of series with as many false detections as
// particles.

#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <motes/tracking/confidence.h>
#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/series/particle_odds.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;

namespace {

/// Particles of which a tenth is missed, and `clutter` false detections for each; a score whose mean is
/// `apart` standard deviations higher for particles.
testing::Walkers among_false(double step, double clutter, double apart, std::uint64_t seed) {
  constexpr int kParticles = 60, kFrames = 20;
  const testing::Walkers all =
      testing::walkers_moved(kParticles, kFrames, seed, [step](std::mt19937_64& rng) {
        return [step, &rng](Vec3& p) {
          std::normal_distribution<> normal(0, step);
          p.x += normal(rng), p.y += normal(rng), p.z += normal(rng);
        };
      });
  std::mt19937_64 rng(seed + 100);
  std::uniform_real_distribution<> uniform;
  std::normal_distribution<> normal;
  testing::Walkers out;
  std::vector<Index> place(all.next.size(), -1);
  std::size_t from = 0;
  for (const Detections& frame : all.frames) {
    Detections d;
    d.frame = frame.frame;
    d.properties = {{"score", {}}};
    const auto put = [&](const Vec3& p, double mean) {
      testing::add(d, p);
      d.properties[0].values.push_back(mean + normal(rng));
      out.next.push_back(-1);
    };
    for (std::size_t k = 0; k < frame.size(); ++k, ++from) {
      if (uniform(rng) < 0.1) continue;
      place[from] = static_cast<Index>(out.next.size());
      put({frame.x_um[k], frame.y_um[k], frame.z_um[k]}, apart);
    }
    for (int k = 0; k < clutter * kParticles; ++k) put(testing::uniform_point(rng, std::cbrt(kParticles)), 0);
    out.frames.push_back(std::move(d));
  }
  for (std::size_t i = 0; i < all.next.size(); ++i) {
    Index j = all.next[i];
    while (j >= 0 && place[static_cast<std::size_t>(j)] < 0) j = all.next[static_cast<std::size_t>(j)];
    if (place[i] >= 0 && j >= 0)
      out.next[static_cast<std::size_t>(place[i])] = place[static_cast<std::size_t>(j)];
  }
  return out;
}

testing::Walkers without_properties(testing::Walkers series) {
  for (Detections& d : series.frames) d.properties.clear();
  return series;
}

/// F1 of the links, where those between false detections count as wrong.
double f1(const testing::Walkers& series, const SeriesLinks& links) {
  double right = 0, found = 0, truth = 0;
  for (std::size_t i = 0; i < series.next.size(); ++i) {
    const Index j = links.linking.next[i];
    found += j >= 0, truth += series.next[i] >= 0, right += j >= 0 && j == series.next[i];
  }
  return 2 * right / (found + truth);
}

bool told(const SeriesLinks& links) { return links.reason.find("properties tell") != std::string::npos; }

}  // namespace

TEST_CASE("a score that particles and false detections differ in makes links better") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const testing::Walkers series = among_false(0.1, 2, 2, seed);
    const SeriesLinks with = link_series({1}, series.frames, {});
    const SeriesLinks without = link_series({1}, without_properties(series).frames, {});
    CAPTURE(with.reason, f1(series, with), f1(series, without));
    CHECK(told(with));
    CHECK_FALSE(told(without));
    CHECK(f1(series, with) > f1(series, without) + 0.05);
  }
}

TEST_CASE("a score that tells nothing changes no link") {
  const testing::Walkers series = among_false(0.1, 1, 0, 4);
  const SeriesLinks with = link_series({1}, series.frames, {});
  CHECK_FALSE(told(with));
  CHECK(with.linking.next == link_series({1}, without_properties(series).frames, {}).linking.next);
}

TEST_CASE("a score is not used if almost all detections are on tracks") {
  const testing::Walkers series = among_false(0.05, 0, 2, 5);
  CHECK_FALSE(told(link_series({1}, series.frames, {})));
}

TEST_CASE("properties that are not asked for tell nothing") {
  const testing::Walkers series = among_false(0.1, 1, 2, 6);
  SeriesOptions options;
  options.features = std::vector<std::string>{};
  CHECK_FALSE(told(link_series({1}, series.frames, options)));
}

TEST_CASE("the same links for any number of threads, with log-odds of detections") {
  const testing::Walkers series = among_false(0.1, 1, 2, 7);
  Execution one, three;
  one.threads = 1, three.threads = 3;
  const SeriesLinks links = link_series(one, series.frames, {});
  REQUIRE(told(links));
  CHECK(links.linking.next == link_series(three, series.frames, {}).linking.next);
}

TEST_CASE("the expected share of wrong links knows of log-odds") {
  double bias = 0;
  for (const std::uint64_t seed : {8, 9, 10, 11}) {
    CAPTURE(seed);
    const testing::Walkers series = among_false(0.1, 2, 2, seed);
    const SeriesLinks links = link_series({1}, series.frames, {});
    REQUIRE(told(links));
    const Confidence confidence = link_confidence({1}, links, {}, {});
    const double wrong = testing::share_wrong(series, links);
    CAPTURE(wrong, confidence.wrong, confidence.error);
    CHECK(std::abs(confidence.wrong - wrong) < 0.05);
    bias += (confidence.wrong - wrong) / 4;
  }
  CHECK(bias < 0.02);
}

TEST_CASE("log-odds are those of the labels by tracks, without the share of particles") {
  // Of 80 detections in each of four frames, the first 30 score 1 and are on tracks; the others score 0.
  constexpr Index kFrames = 4, kInFrame = 80, kOnTracks = 30;
  SeriesPoints points;
  PropertyColumn score{"score", {}};
  points.offset = {0};
  SeriesLinking linking = SeriesLinking::none(kFrames * kInFrame);
  for (Index t = 0; t < kFrames; ++t) {
    for (Index k = 0; k < kInFrame; ++k) {
      const bool real = k < kOnTracks;
      const auto i = static_cast<Index>(points.at.size());
      points.at.push_back({static_cast<double>(k), 0, 0});
      points.slot.push_back(t);
      score.values.push_back(real ? 1 : 0);
      if (real && t + 1 < kFrames) {
        linking.next[static_cast<std::size_t>(i)] = i + kInFrame;
        linking.previous[static_cast<std::size_t>(i + kInFrame)] = i;
      }
    }
    points.offset.push_back(static_cast<Index>(points.at.size()));
  }
  points.properties = {score};
  const auto odds = particle_odds({}, points, linking, 0.5);
  REQUIRE(odds);
  CHECK((*odds)[0] > 2);
  CHECK((*odds)[kOnTracks] < -2);
  // Twice as many false detections: each costs log 2 less.
  CHECK((*odds)[0] - (*particle_odds({}, points, linking, 1))[0] == Approx(std::log(2.0)));
}
