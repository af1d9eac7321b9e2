// Confidence by simulated series: links that change if detections are left out, the linking of simulated
// series, and the expected share of wrong links if the motion of neighbours is only partly found.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <catch2/catch.hpp>

#include <motes/tracking/confidence.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/confidence/again.h"
#include "tracking/link/confidence/confidence_steps.h"
#include "tracking/link/series/options.h"

using namespace motes;
using namespace motes::tracking;
using testing::share_wrong;
using testing::Walkers;
using testing::walkers_moved;

namespace {

/// Diffusing particles in a flow with waves of four spacings, whose direction differs in every frame.
Walkers stirred(int n, int count, double flow, double diffusion, std::uint64_t seed) {
  std::normal_distribution<> normal;
  const double wave = 2 * std::numbers::pi / 4;
  std::uniform_real_distribution<> turn(0, 2 * std::numbers::pi);
  return walkers_moved(n, count, seed, [&, wave](std::mt19937_64& rng) {
    const double a = turn(rng), b = turn(rng), c = turn(rng);
    return [&, wave, a, b, c](Vec3& p) {
      const Vec3 q = p;
      p.x += flow * std::sin(wave * q.y + a) + diffusion * normal(rng);
      p.y += flow * std::sin(wave * q.z + b) + diffusion * normal(rng);
      p.z += flow * std::sin(wave * q.x + c) + diffusion * normal(rng);
    };
  });
}

/// Exchanges the links of neighbouring detections, for about a share `part` of the pairs.
void swap_neighbours(double part, SeriesLinks& links) {
  std::mt19937_64 rng(1);
  const SeriesPoints& points = links.points;
  std::vector<char> done(points.size(), 0);
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (done[i] != 0 || std::uniform_real_distribution<>(0, 1)(rng) >= part) continue;
    const auto t = static_cast<std::size_t>(points.slot[i]);
    std::size_t near = i;
    double nearest = std::numeric_limits<double>::infinity();
    for (auto k = static_cast<std::size_t>(points.offset[t]);
         k < static_cast<std::size_t>(points.offset[t + 1]); ++k) {
      const Vec3 &a = points.at[i], &b = points.at[k];
      const double distance = std::hypot(a.x - b.x, a.y - b.y, a.z - b.z);
      if (k != i && distance < nearest) nearest = distance, near = k;
    }
    auto &a = links.linking.next[i], &b = links.linking.next[near];
    if (done[near] != 0 || a < 0 || b < 0) continue;
    auto &before_a = links.linking.previous[static_cast<std::size_t>(a)],
         &before_b = links.linking.previous[static_cast<std::size_t>(b)];
    std::swap(before_a, before_b);
    std::swap(a, b);
    done[i] = done[near] = 1;
  }
}

}  // namespace

TEST_CASE("links that are certain do not change when detections are left out") {
  SeriesOptions options;
  options.model = MotionModel::standing;
  const auto changed = [&](double diffusion, int threads) {
    const Walkers series = stirred(300, 10, 0, diffusion, 3);
    Execution execution;
    execution.threads = threads;
    const SeriesLinks links = link_series(execution, series.frames, options);
    return detail::changed_links(execution, links, options, 1);
  };
  CHECK(changed(0.01, 2) == 0);
  const double hard = changed(0.3, 2);
  CHECK(hard > 0.05);
  CHECK(hard < 0.6);
  CHECK(changed(0.3, 1) == hard);
}

TEST_CASE("a linking skips the starts and common motions that it is told to skip") {
  // A drift whose direction differs in every frame.
  std::normal_distribution<> normal;
  const Walkers series = walkers_moved(100, 8, 3, [&](std::mt19937_64& rng) {
    const Vec3 drift{normal(rng), normal(rng), normal(rng)};
    return [&, drift](Vec3& p) { p += drift + Vec3{0.03 * normal(rng), 0.03 * normal(rng), 0}; };
  });
  const SeriesLinks all = link_series({}, series.frames, {});
  REQUIRE(all.drift);
  CHECK_FALSE(detail::link_series({}, series.frames, {}, {.drift = true}, {}).evidence.drift);
  CHECK(detail::link_series({}, series.frames, {}, {.pairs = true}, {}).rounds < all.rounds);
}

TEST_CASE("the expected share of wrong links is near the true one if whole regions are linked wrongly") {
  for (const double flow : {0.3, 0.6}) {
    const Walkers series = stirred(600, 10, flow, 0.08, 5);
    const SeriesOptions options;
    const SeriesLinks links = link_series({}, series.frames, options);
    const Confidence confidence = link_confidence({}, links, options);
    const double wrong = share_wrong(series, links);
    CAPTURE(flow, confidence.wrong, confidence.error, confidence.wrong_by_odds, wrong);
    CHECK(confidence.calibrated);
    CHECK(confidence.wrong == Approx(wrong).margin(0.05));
    // The odds of a series can be surer or less sure than those of a simulated one that is as hard to link.
    const double simulated =
        static_cast<double>(confidence.simulated_wrong) / static_cast<double>(confidence.simulated_links);
    CAPTURE(simulated);
    CHECK(std::abs(simulated - confidence.wrong) <= confidence.error);
    CHECK(std::abs(wrong - confidence.wrong) <= 1.5 * confidence.error);
  }
}

TEST_CASE("links of a few particles that rotate together are sure") {
  const int n = 30;
  const double middle = std::cbrt(n) / 2, angle = 0.3;
  std::normal_distribution<> normal(0, 0.02);
  const Walkers series = walkers_moved(n, 15, 3, [&](std::mt19937_64& rng) {
    return [&](Vec3& p) {
      const double x = p.x - middle, y = p.y - middle;
      p.x = middle + std::cos(angle) * x - std::sin(angle) * y + normal(rng);
      p.y = middle + std::sin(angle) * x + std::cos(angle) * y + normal(rng);
      p.z += normal(rng);
    };
  });
  const SeriesOptions options;
  const SeriesLinks links = link_series({}, series.frames, options);
  REQUIRE(links.drift);
  REQUIRE(links.rotation);
  CHECK(share_wrong(series, links) < 0.01);
  CHECK(link_confidence({}, links, options).wrong < 0.05);
}

TEST_CASE("links of particles that rotate are sure if others rotate about another centre") {
  // In the plane; particles of the first rotation are replaced one by one by those of the second.
  const int n = 40, count = 20;
  const double side = std::sqrt(n), angle = 0.15;
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<> place(-side / 2, side / 2);
  std::normal_distribution<> noise(0, 0.02);
  std::vector<Vec3> rest;
  std::vector<int> until;
  for (int k = 0; k < 2 * n; ++k) {
    const double x = place(rng);
    rest.push_back({x, place(rng), 0});
    until.push_back(2 + static_cast<int>(rng() % (count - 4)));
  }
  Walkers series;
  std::vector<matching::Index> last(rest.size(), -1);
  for (int t = 0; t < count; ++t) {
    Detections d;
    d.frame = t;
    const double c = std::cos(angle * t), s = std::sin(angle * t);
    for (std::size_t k = 0; k < rest.size(); ++k) {
      const bool second = k >= static_cast<std::size_t>(n);
      if ((t < until[k % static_cast<std::size_t>(n)]) == second) continue;
      const Vec3& p = rest[k];
      const double x = c * p.x - s * p.y + noise(rng) + (second ? 0.7 * side : 0);
      testing::add(d, {x, s * p.x + c * p.y + noise(rng), 0});
      const auto i = static_cast<matching::Index>(series.next.size());
      series.next.push_back(-1);
      if (last[k] >= 0) series.next[static_cast<std::size_t>(last[k])] = i;
      last[k] = i;
    }
    series.frames.push_back(std::move(d));
  }
  const SeriesLinks links = link_series({}, series.frames, {});
  const double wrong = share_wrong(series, links);
  const Confidence confidence = link_confidence({}, links, {});
  CAPTURE(wrong, confidence.wrong, confidence.wrong_by_odds);
  CHECK(wrong < 0.05);
  CHECK(confidence.wrong == Approx(wrong).margin(0.05));
}

TEST_CASE("a simulated series is linked alike from given parameters and from guesses") {
  for (const bool directed : {false, true}) {
    CAPTURE(directed);
    const Walkers series =
        directed ? testing::keen_walkers(400, 16, 0.3, 0.2, 4) : stirred(400, 16, 0, 0.12, 4);
    const SeriesLinks links = link_series({}, series.frames, {});
    REQUIRE(links.persistent == directed);
    REQUIRE(detail::can_link_again(links));
    SeriesOptions options;
    options.model = links.chosen;
    const auto like = detail::simulate_like(links, {}, 2000, 1);
    CHECK(like.first_frame + std::ssize(like.frames) <= 16);
    const SeriesLinks first = link_series({}, like.frames, options);
    const SeriesLinks again = detail::link_again({}, like, links, options);
    CHECK(again.rounds < first.rounds);
    double differ = 0;
    for (std::size_t i = 0; i < first.linking.next.size(); ++i)
      differ += first.linking.next[i] != again.linking.next[i];
    CHECK(differ < 0.02 * static_cast<double>(first.links));
    CHECK(again.links == again.linking.links());
    CHECK(again.joint == links.joint);
  }
}

TEST_CASE("more than one series is simulated if detections are few") {
  const Walkers series = stirred(15, 10, 0, 0.25, 2);
  SeriesOptions options;
  options.model = MotionModel::standing;
  const SeriesLinks links = link_series({}, series.frames, options);
  CHECK(link_confidence({}, links, options).simulated_links > 5 * links.links);
}

TEST_CASE("simulated steps are stretched if more links are wrong than the steps of the tracks show") {
  const Walkers series = stirred(300, 6, 0.3, 0.15, 5);
  SeriesOptions options;
  options.model = MotionModel::field;
  SeriesLinks links = link_series({}, series.frames, options);
  const Prediction prediction = detail::link_prediction({}, links);
  swap_neighbours(0.4, links);
  const double wrong = share_wrong(series, links);
  REQUIRE(wrong > 0.4);
  const detail::Judged judged = detail::judged_like({}, links, prediction, options, {});
  // Without stretching it would be a quarter.
  CHECK(judged.wrong() / static_cast<double>(judged.links.size()) == Approx(wrong).margin(0.15));
}

TEST_CASE("few links cannot show that none is wrong") {
  for (const int n : {20, 400}) {
    const Walkers series = stirred(n, 10, 0, 0.005, 2);
    SeriesOptions options;
    options.model = MotionModel::standing;
    const SeriesLinks links = link_series({}, series.frames, options);
    REQUIRE(share_wrong(series, links) == 0);
    const Confidence confidence = link_confidence({}, links, options);
    CHECK(confidence.wrong > 0.4 / static_cast<double>(links.links));
    CHECK(confidence.wrong < 5 / static_cast<double>(links.links));
  }
}
