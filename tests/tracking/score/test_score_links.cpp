#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/link_score.h>

#include "tests/tracking/score/score_cases.h"

using namespace motes;
using motes::testing::damaged;
using motes::testing::make_tracks;
using motes::testing::random_tracks;
using motes::testing::TrackPoints;
using motes::tracking::link_scores;

namespace {

struct Counts {
  std::int64_t right, wrong, missed, neutral;
  friend bool operator==(const Counts&, const Counts&) = default;
};

Counts counts(const LinkScores& s) { return {s.true_links, s.false_links, s.missed_links, s.neutral_links}; }

/// Particle k is at rest at x = 10 k.
TrackPoints still(int particle, std::initializer_list<int> frames, double shift = 0) {
  TrackPoints track;
  for (const int t : frames) track.push_back({t, 10.0 * particle + shift, 0, 0});
  return track;
}

TrackPoints joined(TrackPoints a, const TrackPoints& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("links are judged by their ends") {
  const TrackSet truth = make_tracks({still(0, {0, 1, 2, 3}), still(1, {0, 1, 2, 3})});
  const auto judged = [&](const std::vector<TrackPoints>& found) {
    return counts(link_scores({}, truth, make_tracks(found), 2));
  };
  CHECK(judged({still(0, {0, 1, 2, 3}), still(1, {0, 1, 2, 3})}) == Counts{6, 0, 0, 0});
  CHECK(judged({still(0, {0, 1, 2, 3}, 1.5), still(1, {0, 1, 2, 3})}) == Counts{6, 0, 0, 0});
  // A swap: two false links.
  CHECK(judged({joined(still(0, {0, 1}), still(1, {2, 3})), joined(still(1, {0, 1}), still(0, {2, 3}))}) ==
        Counts{4, 2, 2, 0});
  // A true frame lies between.
  CHECK(judged({still(0, {0, 2, 3}), still(1, {0, 1, 2, 3})}) == Counts{4, 1, 2, 0});
  // False if one end does not match a true particle; neutral if neither does.
  CHECK(judged({joined(still(0, {0, 1}), still(5, {2, 3}))}) == Counts{1, 1, 5, 1});
  // In frames without any true position.
  CHECK(judged({still(7, {8, 9, 11})}) == Counts{0, 0, 6, 2});
  CHECK(judged({}) == Counts{0, 0, 6, 0});
}

TEST_CASE("links over a gap of the truth itself are true links") {
  const TrackSet truth = make_tracks({still(0, {0, 1, 4, 5})});
  CHECK(counts(link_scores({}, truth, truth, 2)) == Counts{3, 0, 0, 0});
  // A position found in the gap is not a true one: both links to it are false, and the true one is missed.
  CHECK(counts(link_scores({}, truth, make_tracks({still(0, {0, 1, 2, 4, 5})}), 2)) == Counts{2, 2, 1, 0});
}

TEST_CASE("a link from mother to daughter is neutral") {
  const std::vector<TrackPoints> tracks = {still(0, {0, 1}), still(1, {2, 3}), still(2, {2, 3})};
  const std::vector<TrackPoints> found = {joined(still(0, {0, 1}), still(1, {2, 3})), still(2, {2, 3})};
  CHECK(counts(link_scores({}, make_tracks(tracks, {-1, 0, 0}), make_tracks(found), 2)) ==
        Counts{3, 0, 0, 1});
  CHECK(counts(link_scores({}, make_tracks(tracks), make_tracks(found), 2)) == Counts{3, 1, 0, 0});
  // Between sisters it is false.
  const std::vector<TrackPoints> sisters = {joined(still(1, {2}), still(2, {3}))};
  CHECK(counts(link_scores({}, make_tracks(tracks, {-1, 0, 0}), make_tracks(sisters), 2)) ==
        Counts{0, 1, 3, 0});
}

TEST_CASE("precision, recall and F1 follow from the counts") {
  const TrackSet truth = make_tracks({still(0, {0, 1, 2, 3}), still(1, {0, 1, 2, 3})});
  const LinkScores s =
      link_scores({}, truth, make_tracks({joined(still(0, {0, 1, 2}), still(1, {3})), still(9, {0, 1})}), 2);
  CHECK(counts(s) == Counts{2, 1, 4, 1});
  CHECK(s.precision == Approx(2.0 / 3));
  CHECK(s.recall == Approx(2.0 / 6));
  CHECK(s.f1 == Approx(4.0 / 9));
}

TEST_CASE("link scores of empty sets") {
  const TrackSet none, some = make_tracks({still(0, {0, 1})}), dots = make_tracks({still(0, {0})});
  for (const TrackSet& nothing : {none, dots}) {
    const LinkScores s = link_scores({}, nothing, nothing, 2);
    CHECK(s.precision == 1);
    CHECK(s.recall == 1);
    CHECK(s.f1 == 1);
  }
  const LinkScores missed = link_scores({}, some, none, 2);
  CHECK(missed.precision == 0);
  CHECK(missed.recall == 0);
  CHECK(missed.f1 == 0);
  // Links between positions of no true particle are neutral, even without any truth.
  CHECK(counts(link_scores({}, none, some, 2)) == Counts{0, 0, 0, 1});
}

TEST_CASE("positions match strictly within the gate") {
  const TrackSet truth = make_tracks({still(0, {0, 1})});
  CHECK(counts(link_scores({}, truth, make_tracks({still(0, {0, 1}, 2)}), 2)) == Counts{0, 0, 1, 1});
  CHECK(counts(link_scores({}, truth, make_tracks({still(0, {0, 1}, 1.999)}), 2)) == Counts{1, 0, 0, 0});
}

TEST_CASE("positions match one to one, with the least sum of squares") {
  // Found a at 1 and b at 2, true A at 0 and B at 1, gate 3. With the exact pair a-B, b-A has distance 2 (sum
  // of squares 4); the other pairs cost 1 + 1.
  const TrackSet truth = make_tracks({{{0, 0, 0, 0}, {1, 0, 0, 0}}, {{0, 1, 0, 0}, {1, 1, 0, 0}}});
  const TrackSet found = make_tracks({{{0, 1, 0, 0}, {1, 0, 0, 0}}, {{0, 2, 0, 0}, {1, 1, 0, 0}}});
  CHECK(counts(link_scores({}, truth, found, 3)) == Counts{2, 0, 0, 0});
  // Two found positions at one place: only one can match the particle.
  const TrackSet one = make_tracks({still(0, {0, 1})});
  CHECK(counts(link_scores({}, one, make_tracks({still(0, {0, 1}), still(0, {0, 1}, 0.5)}), 2)) ==
        Counts{1, 0, 0, 1});
}

TEST_CASE("identical tracks score 1, in any order and with any threads") {
  std::mt19937_64 random(8);
  auto tracks = random_tracks(random, 60, true, 20);
  const TrackSet truth = make_tracks(tracks);
  const LinkScores same = link_scores({}, truth, truth, 1);
  CHECK(same.f1 == 1);
  CHECK(same.neutral_links == 0);
  auto found = damaged(random, tracks, 0.5);
  const LinkScores s = link_scores({1}, truth, make_tracks(found), 1.5);
  CHECK(counts(s) == counts(link_scores({3}, truth, make_tracks(found), 1.5)));
  std::shuffle(tracks.begin(), tracks.end(), random);
  std::shuffle(found.begin(), found.end(), random);
  CHECK(counts(s) == counts(link_scores({}, make_tracks(tracks), make_tracks(found), 1.5)));
}

TEST_CASE("every true link is found or missed, every found link is judged once") {
  const auto seed = GENERATE(range(1, 21));
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  const auto tracks = random_tracks(random, 20, true);
  const TrackSet truth = make_tracks(tracks), found = make_tracks(damaged(random, tracks, 1));
  const LinkScores s = link_scores({}, truth, found, 0.5 * seed);
  CHECK(s.true_links + s.missed_links == static_cast<std::int64_t>(truth.points() - truth.tracks()));
  CHECK(s.true_links + s.false_links + s.neutral_links ==
        static_cast<std::int64_t>(found.points() - found.tracks()));
}

TEST_CASE("link scores reject invalid input") {
  const TrackSet good = make_tracks({still(0, {0, 1})}), bad = make_tracks({still(0, {1, 1})});
  CHECK_THROWS_AS(link_scores({}, bad, good, 2), InputError);
  CHECK_THROWS_AS(link_scores({}, good, bad, 2), InputError);
  CHECK_THROWS_AS(link_scores({}, good, good, 0), UsageError);
  CHECK_THROWS_AS(link_scores({}, good, good, std::numeric_limits<double>::quiet_NaN()), UsageError);
}

TEST_CASE("links over undetected frames are right, links over detected ones are not") {
  const TrackSet truth = make_tracks({still(0, {0, 1, 2, 3, 4}), still(1, {0, 1, 2})});
  const auto judged = [&](const std::vector<TrackPoints>& found) {
    return link_scores({}, truth, make_tracks(found), 2);
  };
  LinkScores s = judged({still(0, {0, 1, 4}), still(1, {0, 1, 2})});
  CHECK(s.false_links == 1);  // by the rule of consecutive true frames
  CHECK(s.detected.true_links == 4);
  CHECK(s.detected.gap_links == 1);
  CHECK(s.detected.false_links == 0);
  CHECK(s.detected.missed_links == 0);
  CHECK(s.detected.f1 == 1);
  CHECK(s.detected.complete == 2);
  // The particle was detected at frame 2, on a track of one point: a link over it is wrong.
  s = judged({still(0, {0, 1, 3, 4}), still(0, {2}), still(1, {0, 1, 2})});
  CHECK(s.detected.true_links == 4);
  CHECK(s.detected.false_links == 1);
  CHECK(s.detected.missed_links == 2);
  CHECK(s.detected.complete == 1);
  CHECK(s.detected.tracks == 2);
}

TEST_CASE("strict F1 counts links between positions of no particle") {
  const TrackSet truth = make_tracks({still(0, {0, 1, 2})});
  const LinkScores s = link_scores({}, truth, make_tracks({still(0, {0, 1, 2}), still(7, {0, 1, 2})}), 2);
  CHECK(s.f1 == 1);
  CHECK(s.clutter_links == 2);
  CHECK(s.strict_f1 == Approx(2.0 * 2 / (2 * 2 + 2)));
}
