// Scores if many tracks are equal: the same as for different tracks, in time and memory that do not grow with
// the square of their number.

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/score_tracks.h>

#include "tests/tracking/score/score_cases.h"

using namespace motes;
using namespace motes::tracking;
using motes::testing::make_tracks;
using motes::testing::TrackPoints;

namespace {

struct Kind {
  int copies;
  TrackPoints points;
};

/// Copies of each kind, shuffled; each moved by at most `jitter`, so that with 0 they are equal.
TrackSet copies_of(const std::vector<Kind>& kinds, double jitter, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> move(-jitter, jitter);
  std::vector<TrackPoints> tracks;
  for (const Kind& kind : kinds)
    for (int k = 0; k < kind.copies; ++k) {
      tracks.push_back(kind.points);
      if (jitter > 0)
        for (auto& p : tracks.back()) p.x += move(rng), p.y += move(rng), p.z += move(rng);
    }
  std::shuffle(tracks.begin(), tracks.end(), rng);
  return make_tracks(tracks);
}

TrackPoints resting(int first, int last, double x) {
  TrackPoints out;
  for (int t = first; t <= last; ++t) out.push_back({t, x, 0, 0});
  return out;
}

}  // namespace

TEST_CASE("scores of equal tracks are those of nearly equal tracks") {
  // Truth with more and with fewer copies than found; two places within one gate; a gap and short tracks.
  const std::vector<Kind> some{{300, resting(0, 2, 0)}, {40, resting(0, 2, 0.75)}, {30, resting(1, 2, 0)}},
      others{{270, resting(0, 2, 0.25)}, {50, resting(0, 2, 1)}, {20, {{0, 0, 0, 0}, {2, 0, 0, 0}}}};
  for (const bool turned : {false, true})
    for (const double gate : {0.5, 1.5}) {
      CAPTURE(turned, gate);
      const auto& truth = turned ? others : some;
      const auto& found = turned ? some : others;
      const Scores expected =
          score_tracks({}, copies_of(truth, 1e-7, 1), copies_of(found, 1e-7, 2), {.gate = gate});
      const Scores scores = score_tracks({}, copies_of(truth, 0, 1), copies_of(found, 0, 2), {.gate = gate});
      CHECK(scores.challenge.pairing_distance == Approx(expected.challenge.pairing_distance).epsilon(1e-5));
      CHECK(scores.challenge.alpha == Approx(expected.challenge.alpha).epsilon(1e-5));
      CHECK(scores.challenge.beta == Approx(expected.challenge.beta).epsilon(1e-5));
      CHECK(scores.challenge.paired_tracks == expected.challenge.paired_tracks);
      CHECK(scores.challenge.spurious_tracks == expected.challenge.spurious_tracks);
      CHECK(scores.challenge.true_positives == expected.challenge.true_positives);
      CHECK(scores.challenge.rmse == Approx(expected.challenge.rmse).epsilon(1e-4));
    }
}

TEST_CASE("thousands of equal tracks are scored, each once") {
  constexpr int kMany = 50'000;
  const TrackSet truth = copies_of({{kMany, resting(0, 2, 0)}}, 0, 1);
  for (const double apart : {0.0, 0.25})
    for (const int found : {kMany, kMany - 1000}) {
      CAPTURE(apart, found);
      const TrackSet tracks = copies_of({{found, resting(0, 2, apart)}}, 0, 2);
      const Scores scores = score_tracks({}, truth, tracks, {.gate = 1});
      CHECK(scores.challenge.paired_tracks == found);
      CHECK(scores.challenge.missed_tracks == kMany - found);
      CHECK(scores.challenge.true_positives == 3 * found);
      CHECK(scores.challenge.rmse == Approx(apart));
      CHECK(scores.link.true_links == 2 * found);
      CHECK(scores.link.false_links == 0);
      CHECK(scores.link.detected.complete == found);
      CHECK(scores.link.missed_links == 2 * (kMany - found));
    }
}
