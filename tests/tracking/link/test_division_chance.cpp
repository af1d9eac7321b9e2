// Whether divisions are more than chance: the rules one by one, and small colonies that grow from a few
// cells.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/link_score.h>
#include <motes/tracking/series_links.h>

#include "tests/tracking/link/dividing_cells.h"
#include "tracking/link/events/division_chance.h"
#include "tracking/link/events/division_scene.h"

using namespace motes;
using namespace motes::tracking;
using detail::SearchGains;
using motes::testing::Life;
using motes::testing::live;

namespace {

/// `count` gains from `least` up, and `none` starts without a division.
SearchGains gains(std::int64_t count, double least, std::int64_t none = 0) {
  SearchGains out{{}, count + none};
  for (std::int64_t k = 0; k < count; ++k) out.gain.push_back(least + 0.01 * static_cast<double>(k));
  return out;
}

}  // namespace

TEST_CASE("the rank sum counts the pairs of starts in which the found one gains more") {
  std::mt19937_64 rng(7);
  std::uniform_int_distribution<int> gain(1, 4), size(0, 6);
  for (int trial = 0; trial < 200; ++trial) {
    SearchGains found{{}, size(rng)}, chance{{}, size(rng)};
    for (SearchGains* search : {&found, &chance})
      for (int k = std::min<int>(size(rng), static_cast<int>(search->starts)); k > 0; --k)
        search->gain.push_back(gain(rng));
    const auto filled = [](SearchGains search) {
      search.gain.resize(static_cast<std::size_t>(search.starts), 0);
      return search.gain;
    };
    const std::vector<double> a = filled(found), b = filled(chance);
    double above = 0;  // pairs with the greater gain in `found`, less those with the greater in `chance`
    for (const double x : a)
      for (const double y : b) above += (x > y) - (x < y);
    std::vector<double> all = a;
    all.insert(all.end(), b.begin(), b.end());
    const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
    double ties = 0;
    for (const double x : all) {
      const auto equal = static_cast<double>(std::count(all.begin(), all.end(), x));
      ties += equal * equal - 1;
    }
    const double variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
    const double expected = n * m > 0 && variance > 1e-9 ? above / 2 / std::sqrt(variance) : 0;
    CHECK(detail::rank_sum(found, chance) == Approx(expected).margin(1e-9));
  }
}

TEST_CASE("chance explains twice the divisions that it makes as likely as the median") {
  const SearchGains found = gains(9, 5);  // median 5.04
  CHECK(detail::explained_by(gains(20, 1), found) == 0);
  CHECK(detail::explained_by(gains(3, 5.04), found) == 6);
  CHECK(detail::explained_by(gains(3, 5.03), found) == 4);
  CHECK(detail::explained_by(gains(3, 9), {}) == 0);
}

TEST_CASE("divisions are significant if they are clearly more than chance explains, and likelier") {
  const SearchGains none{{}, 40};
  CHECK(detail::exceed_chance(gains(10, 5), none, 0));
  CHECK_FALSE(detail::exceed_chance(gains(9, 5), none, 0));   // not 3 standard deviations
  CHECK_FALSE(detail::exceed_chance(gains(50, 1), none, 0));  // half gain less than 1.5 nats
  CHECK(detail::exceed_chance(gains(7, 12), none, 0));        // each is sure
  CHECK_FALSE(detail::exceed_chance(gains(6, 12), none, 0));
  CHECK(detail::exceed_chance(gains(30, 5), none, 6));
  CHECK_FALSE(detail::exceed_chance(gains(30, 5), none, 12));
  CHECK(detail::exceed_chance(gains(100, 5), none, 50));
  CHECK_FALSE(detail::exceed_chance(gains(100, 5), none, 51));
  // As many by chance count only if they are as likely.
  CHECK(detail::exceed_chance(gains(12, 12), gains(12, 3), 0));
  CHECK_FALSE(detail::exceed_chance(gains(12, 12), gains(12, 12), 0));
  CHECK_FALSE(detail::exceed_chance(gains(12, 5, 40), gains(6, 5, 46), 0));
}

TEST_CASE("divisions of small colonies are found") {
  // Two cells divide some ten times. Most starts that are misplaced also lie near a cell.
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Life life;
    life.particles = 2, life.frames = 70, life.division = 0.06, life.step = 0.01, life.cycle = 8;
    const auto [truth, frames] = live(life, seed);
    const SeriesLinks links = link_series({}, frames, {});
    const LinkScores scores = link_scores({}, truth, build_tracks(frames, links), 1e-6);
    INFO("seed " << seed << ": " << links.divisions.found << " found, " << scores.division.true_divisions
                 << " right, " << scores.division.missed_divisions << " missed");
    CHECK(links.divisions.significant);
    CHECK(scores.division.f1 > 0.9);
  }
}

TEST_CASE("daughters may be several spacings apart") {
  // As the ends of rods that lie side by side are.
  Life life;
  life.half = 0.9, life.division = 0.04, life.step = 0.02;
  const auto [truth, frames] = live(life, 3);
  const SeriesLinks links = link_series({}, frames, {});
  const LinkScores scores = link_scores({}, truth, build_tracks(frames, links), 1e-6);
  INFO(links.divisions.found << " found, " << links.divisions.model.separation << " spacings apart");
  CHECK(links.divisions.model.separation > 2.5);
  CHECK(scores.division.f1 > 0.8);
}

TEST_CASE("where many cells divide, most divisions are kept") {
  Life life;
  life.division = 0.2, life.frames = 8, life.particles = 60, life.step = 0.09;
  const auto [truth, frames] = live(life, 2);
  const SeriesLinks links = link_series({}, frames, {});
  const LinkScores scores = link_scores({}, truth, build_tracks(frames, links), 1e-6);
  INFO(links.divisions.found << " found, " << links.divisions.list.size() << " kept");
  CHECK(static_cast<double>(links.divisions.list.size()) > 0.8 * static_cast<double>(links.divisions.found));
  CHECK(scores.division.f1 > 0.75);
}

TEST_CASE("two or three cells are expected to move like the others") {
  for (const int cells : {2, 3}) {
    std::vector<Detections> frames(4);
    for (int t = 0; t < 4; ++t) {
      frames[static_cast<std::size_t>(t)].frame = t;
      for (int k = 0; k < cells; ++k) {
        frames[static_cast<std::size_t>(t)].x_um.push_back(10.0 * k + 3 * t);
        frames[static_cast<std::size_t>(t)].y_um.push_back(k % 2);
        frames[static_cast<std::size_t>(t)].z_um.push_back(0);
      }
    }
    const SeriesPoints points = pool_points(frames);
    SeriesLinking linking;
    const auto n = static_cast<matching::Index>(points.size());
    for (matching::Index i = 0; i < n; ++i) {
      linking.next.push_back(i + cells < n ? i + cells : -1);
      linking.previous.push_back(i - cells);
    }
    for (matching::Index& i : linking.previous) i = std::max(i, -1);
    const SeriesLists lists(points);
    const std::vector<double> spacings = detail::division_spacings({}, points);
    CHECK(detail::division_motion({}, points, linking, lists, spacings, true, false).residual < 1e-9);
    CHECK(detail::division_motion({}, points, linking, lists, spacings, false, false).residual > 0.2);
  }
}
