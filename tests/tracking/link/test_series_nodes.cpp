// Particles and false detections: the exclusion radius, suppression and log-odds compared with known values,
// and series with false detections around particles.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/confidence.h>
#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/motion/field.h"
#include "tracking/link/series/close_pairs.h"
#include "tracking/link/series/node_model.h"
#include "tracking/link/series/nodes.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;
using testing::add;
using testing::direction;
using testing::uniform_point;

namespace {

double distance_between(const Vec3& a, const Vec3& b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

/// Points with pairwise distances of at least `least`.
std::vector<Vec3> apart(std::mt19937_64& rng, std::size_t n, double side, double least) {
  std::vector<Vec3> out;
  while (out.size() < n) {
    const Vec3 p = uniform_point(rng, side);
    if (std::none_of(out.begin(), out.end(), [&](const Vec3& q) { return distance_between(p, q) < least; }))
      out.push_back(p);
  }
  return out;
}

enum class Beside { nothing, satellites, companions };

/// 500 particles at unit density that stay 0.7 apart and move slowly; detection k < 500 of every frame is
/// particle k. Satellites: up to two false detections at 0.1 to 0.25, different in every frame, of lower
/// quality. Companions: another particle at 0.2 from each.
std::vector<Detections> creeping(Beside beside, std::uint64_t seed, int frames = 12) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> uniform;
  std::normal_distribution<> normal;
  constexpr std::size_t kParticles = 500;
  const double side = std::cbrt(static_cast<double>(kParticles));
  std::vector<Vec3> at = apart(rng, kParticles, side, 0.7), offset;
  for (std::size_t k = 0; k < kParticles; ++k) offset.push_back(direction(rng));
  std::vector<Detections> out(static_cast<std::size_t>(frames));
  for (std::size_t t = 0; t < out.size(); ++t) {
    Detections& d = out[t];
    d.frame = static_cast<std::int32_t>(t);
    for (Vec3& p : at) {
      p = {p.x + 0.02 * normal(rng), p.y + 0.02 * normal(rng), p.z + 0.02 * normal(rng)};
      add(d, p);
      d.quality.push_back(3 + normal(rng));
    }
    for (std::size_t k = 0; k < kParticles; ++k)
      for (int copy = 0; copy < 2; ++copy) {
        const bool companion = beside == Beside::companions && copy == 0;
        if (!companion && (beside != Beside::satellites || uniform(rng) < 0.3)) continue;
        const Vec3 u = companion ? offset[k] : direction(rng);
        const double r = companion ? 0.2 : 0.1 + 0.15 * uniform(rng);
        add(d, {at[k].x + r * u.x, at[k].y + r * u.y, at[k].z + r * u.z});
        d.quality.push_back(companion ? 3 + normal(rng) : normal(rng));
      }
  }
  return out;
}

/// Share of the 500 particles' links that are found, and of all links that are those.
std::pair<double, double> recall_and_precision(const SeriesLinks& links, Index particles) {
  double right = 0, all = 0, truths = 0;
  const SeriesPoints& points = links.points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::int32_t t = points.slot[i];
    const Index number = static_cast<Index>(i) - points.offset[t];
    if (number < particles && t + 1 < points.frames()) ++truths;
    if (links.linking.next[i] < 0) continue;
    ++all;
    right += number < particles && links.linking.next[i] == points.offset[t + 1] + number;
  }
  return {right / truths, right / all};
}

}  // namespace

TEST_CASE("an exclusion radius is between the distances of satellites and of particles") {
  const int frames = GENERATE(12, 90);  // with 90, some frames of each block are looked at first
  const auto radii = exclusion_radii(pool_points(creeping(Beside::satellites, 1, frames)));
  for (const double radius : radii) {
    CHECK(radius > 0.3);
    CHECK(radius < 0.8);
  }
}

TEST_CASE("particles that are apart, at random places, or few have no exclusion radius") {
  std::mt19937_64 rng(2);
  std::vector<Detections> random(8);
  for (Detections& d : random)
    for (int k = 0; k < 500; ++k) add(d, uniform_point(rng, 8));
  for (const auto& frames : {creeping(Beside::nothing, 3), random, creeping(Beside::satellites, 4, 1)})
    for (const double radius : exclusion_radii(pool_points(frames))) CHECK(radius == 0);
}

TEST_CASE("a crowd at one place is not taken for false detections around a particle") {
  std::mt19937_64 rng(3);
  std::vector<Detections> frames(4);
  for (Detections& d : frames)
    for (int k = 0; k < 1200; ++k) {
      const Vec3 p = uniform_point(rng, k < 600 ? 0.5 : 20);
      add(d, k < 600 ? p + Vec3{9, 9, 9} : p);
    }
  const SeriesPoints points = pool_points(frames);
  REQUIRE(points.size() > 3000);
  for (const double radius : exclusion_radii(points)) CHECK(radius == 0);
}

TEST_CASE("one detection far away does not hide an axis, and rounding does not add one") {
  std::mt19937_64 rng(4);
  std::vector<Detections> frames(3);
  for (Detections& d : frames)
    for (int k = 0; k < 50; ++k) add(d, uniform_point(rng, 10));
  CHECK(pool_points(frames).dims == 3);
  add(frames[1], {1e9, 5, 5});
  CHECK(pool_points(frames).dims == 3);
  for (Detections& d : frames)
    for (double& z : d.z_um) z = 5 + 1e-12 * z;
  CHECK(pool_points(frames).dims == 2);
}

TEST_CASE("neighbours and suppression are those of all pairs") {
  std::mt19937_64 rng(5);
  std::vector<Detections> frames(3);
  for (Detections& d : frames)
    for (int k = 0; k < 60; ++k) add(d, uniform_point(rng, 3));
  const SeriesPoints points = pool_points(frames);
  const CloseNeighbours close = close_neighbours({2}, points, {0.5, 0, 0.7});
  std::vector<double> score, tie(points.size(), 0);
  for (std::size_t i = 0; i < points.size(); ++i)
    score.push_back(std::uniform_int_distribution<int>(0, 5)(rng)), tie[i] = static_cast<double>(i);
  const std::vector<char> kept = suppress_close(points, close, score, tie);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double radius = close.radius[points.slot[i]];
    std::vector<Index> expected;
    bool dropped = false;
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (j == i || points.slot[j] != points.slot[i]) continue;
      const double away = distance_between(points.at[i], points.at[j]);
      if (away < kNeighbourhood * radius) expected.push_back(static_cast<Index>(j));
      const bool surer = std::pair(score[j], tie[j]) > std::pair(score[i], tie[i]);
      if (kept[j] != 0 && away < radius) {
        CHECK((kept[i] == 0 || !surer));  // no kept detection has a surer kept one nearby
        dropped = dropped || surer;
      }
    }
    CHECK((kept[i] == 0) == dropped);
    CHECK(std::vector<Index>(close.index.begin() + close.offsets[i],
                             close.index.begin() + close.offsets[i + 1]) == expected);
  }
}

TEST_CASE("log-odds of one feature are those of its bins, and two additive features are found") {
  std::mt19937_64 rng(6);
  constexpr std::size_t kPoints = 40'000;
  const double first[] = {-2, 0, 1}, second[] = {-1, 1.5};
  NodeFeatures both{{3, 2}, {}}, one{{3}, {}};
  std::vector<char> real;
  std::vector<double> counts(3, 0), reals(3, 0), truth;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const auto a = std::uniform_int_distribution<std::uint16_t>(0, 2)(rng);
    const auto b = std::uniform_int_distribution<std::uint16_t>(0, 1)(rng);
    truth.push_back(first[a] + second[b]);
    real.push_back(std::uniform_real_distribution<>()(rng) < 1 / (1 + std::exp(-truth.back())));
    both.bin.insert(both.bin.end(), {a, b});
    one.bin.push_back(a);
    counts[a] += 1, reals[a] += real.back();
  }
  const std::vector<double> by_one = fit_log_odds(one, real), by_both = fit_log_odds(both, real);
  for (std::size_t i = 0; i < 200; ++i) {
    const auto a = one.bin[i];
    CHECK(by_one[i] == Approx(std::log(reals[a] / (counts[a] - reals[a]))).margin(0.01));
    CHECK(by_both[i] == Approx(truth[i]).margin(0.15));
  }
}

TEST_CASE("ranks are within a frame, equal for equal values, and unknown for unknown ones") {
  std::vector<Detections> frames(2);
  for (Detections& d : frames)
    for (int k = 0; k < 4; ++k) add(d, {static_cast<double>(k), 0, 0});
  const double unknown = std::nan("");
  const auto ranks = frame_ranks(pool_points(frames), {5, 7, 7, 9, 100, unknown, 100, 100});
  CHECK(ranks[0] == 0.125);
  CHECK(ranks[1] == 0.5);
  CHECK(ranks[2] == 0.5);
  CHECK(ranks[3] == 0.875);
  CHECK(ranks[4] == 0.5);
  CHECK(std::isnan(ranks[5]));
}

TEST_CASE("an assignment with log-odds for each detection has the cost of the best of all linkings") {
  std::mt19937_64 rng(7);
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<Detections> frames(3);
    for (Detections& d : frames)
      for (int k = 0; k < 2; ++k) add(d, uniform_point(rng, 1.5));
    SeriesPoints points = pool_points(frames);
    for (std::size_t i = 0; i < points.size(); ++i)
      points.log_odds.push_back(std::normal_distribution<>(0, 3)(rng));
    SeriesModel model = first_model(points, {}, 2);
    model.end = 0.1, model.birth = 0.2;
    const SeriesCandidates candidates = series_candidates({1}, points, {}, model, 2);
    const std::vector<double> costs = candidate_costs({1}, points, {}, model, candidates);
    double best = std::numeric_limits<double>::infinity();
    const auto n = points.size();
    std::vector<bool> taken(n, false);
    const std::function<void(std::size_t, double)> row = [&](std::size_t i, double cost) {
      if (i == n) {
        for (std::size_t j = 0; j < n; ++j)
          if (!taken[j]) cost += model.birth_cost(points.density[points.slot[j]], points.slot[j]);
        best = std::min(best, cost);
        return;
      }
      row(i + 1, cost + model.end_cost(2 - points.slot[i]));
      const auto take = [&](std::size_t j, double c) {
        if (taken[j]) return;
        taken[j] = true;
        row(i + 1, cost + c);
        taken[j] = false;
      };
      const std::int32_t t = points.slot[i];
      // In three frames, the probabilities of a false detection and of a track of one are added.
      const double density = points.density[t], track = model.end_cost(2 - t) + model.birth_cost(density, t);
      take(i, -std::log(std::exp(-points.log_odds[i]) * density + std::exp(-track)));
      for (auto e = candidates.row_offsets[i]; e < candidates.row_offsets[i + 1]; ++e)
        take(static_cast<std::size_t>(candidates.to[e]), costs[e]);
    };
    row(0, 0);
    const SeriesSolution solved = solve_series({1}, points, model, candidates, costs, "auto", true);
    INFO("trial " << trial);
    CHECK(solved.objective == Approx(best).margin(0.01));
    CHECK(std::count(solved.used.begin(), solved.used.end(), 0) == solved.false_detections);
  }
}

TEST_CASE("false detections around particles are left out, with and without a quality") {
  std::vector<Detections> frames = creeping(Beside::satellites, 8);
  SeriesOptions options;
  const SeriesLinks links = link_series({2}, frames, options);
  CHECK(links.exclusion_um > 0);
  CHECK(recall_and_precision(links, 500).first > 0.97);
  CHECK(recall_and_precision(links, 500).second > 0.97);
  CHECK(link_series({1}, frames, options).linking.next == links.linking.next);
  options.exclusion_um = 0;
  CHECK(recall_and_precision(link_series({2}, frames, options), 500).second < 0.9);
  options.exclusion_um.reset();
  for (Detections& d : frames) d.quality.clear();
  CHECK(recall_and_precision(link_series({2}, frames, options), 500).second > 0.6);
  options.features = {{"quality"}};
  CHECK_THROWS_AS(link_series({2}, frames, options), UsageError);
}

TEST_CASE("it is reported whether a property distinguishes particles from satellites, or only places") {
  std::vector<Detections> frames = creeping(Beside::satellites, 8);
  const auto told = [&] {
    int solved = 0;
    const SeriesPoints points = pool_points(frames);
    const auto link = [](const SeriesPoints& some) {
      return link_along_field({1}, some, "auto", SeriesLists(some));
    };
    const auto nodes = choose_nodes({2}, points, {}, link, {}, solved);
    REQUIRE(nodes);
    return nodes->told;
  };
  CHECK(told());
  for (Detections& d : frames) d.quality.clear();
  CHECK_FALSE(told());
}

TEST_CASE("particles that lie close together stay particles") {
  const std::vector<Detections> frames = creeping(Beside::companions, 9);
  const SeriesLinks links = link_series({2}, frames, {});
  CHECK(links.exclusion_um == 0);
  CHECK(recall_and_precision(links, 1000).first > 0.97);
}

TEST_CASE("the order of a table's rows changes no link and no confidence") {
  std::vector<Detections> frames = creeping(Beside::satellites, 10);
  // On a grid, like pixels, so that distances are equal.
  for (Detections& d : frames)
    for (auto* axis : {&d.x_um, &d.y_um, &d.z_um})
      for (double& value : *axis) value = std::round(16 * value) / 16;
  std::mt19937_64 rng(1);
  std::vector<Detections> shuffled = frames;
  std::vector<std::vector<std::size_t>> row(frames.size());
  for (std::size_t t = 0; t < frames.size(); ++t) {
    row[t].resize(frames[t].size());
    std::iota(row[t].begin(), row[t].end(), std::size_t{0});
    std::shuffle(row[t].begin(), row[t].end(), rng);
    for (std::size_t k = 0; k < row[t].size(); ++k) {
      shuffled[t].x_um[k] = frames[t].x_um[row[t][k]];
      shuffled[t].y_um[k] = frames[t].y_um[row[t][k]];
      shuffled[t].z_um[k] = frames[t].z_um[row[t][k]];
      shuffled[t].quality[k] = frames[t].quality[row[t][k]];
    }
  }
  const SeriesLinks links = link_series({2}, frames, {}), again = link_series({2}, shuffled, {});
  const Confidence sure = link_confidence({2}, links, {}), sure_again = link_confidence({2}, again, {});
  CHECK(links.links > 5000);
  CHECK(again.objective == links.objective);
  CHECK(sure_again.wrong == sure.wrong);
  std::vector<Index> place(links.points.size());
  for (std::size_t t = 0; t < row.size(); ++t)
    for (std::size_t k = 0; k < row[t].size(); ++k)
      place[static_cast<std::size_t>(links.points.offset[t]) + k] =
          links.points.offset[t] + static_cast<Index>(row[t][k]);
  std::size_t differ = 0;
  for (std::size_t k = 0; k < place.size(); ++k) {
    const auto i = static_cast<std::size_t>(place[k]);
    const Index next = again.linking.next[k];
    differ += links.linking.next[i] != (next < 0 ? -1 : place[static_cast<std::size_t>(next)]);
    differ += links.used[i] != again.used[k];
    if (next >= 0) differ += sure.link[i] != sure_again.link[k];
  }
  CHECK(differ == 0);
}
