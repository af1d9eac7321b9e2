#include <cmath>
#include <limits>
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/challenge_score.h>

#include "tests/tracking/score/score_cases.h"

using namespace motes;
using motes::testing::damaged;
using motes::testing::make_tracks;
using motes::testing::random_tracks;
using motes::testing::TrackPoint;
using motes::testing::TrackPoints;
using motes::tracking::challenge_scores;

namespace {

/// A simple implementation of the rules: fills in every track and tries every pairing.
class SlowScorer {
 public:
  SlowScorer(const std::vector<TrackPoints>& reference, const std::vector<TrackPoints>& candidate,
             double gate)
      : gate_(gate) {
    for (const TrackPoints& track : reference) reference_.push_back(filled(track));
    for (const TrackPoints& track : candidate) candidate_.push_back(filled(track));
  }

  ChallengeScores best() {
    best_distance_ = std::numeric_limits<double>::infinity();
    std::vector<int> choice;
    try_all(choice, 0);
    return count();
  }

 private:
  struct Position {
    double x, y, z;
    bool real;
  };
  using Filled = std::map<int, Position>;

  static Filled filled(const TrackPoints& track) {
    Filled result;
    for (std::size_t i = 0; i < track.size(); ++i) {
      const TrackPoint& a = track[i];
      result[a.frame] = {a.x, a.y, a.z, true};
      if (i + 1 == track.size()) break;
      const TrackPoint& b = track[i + 1];
      for (int t = a.frame + 1; t < b.frame; ++t) {
        const double w = static_cast<double>(t - a.frame) / (b.frame - a.frame);
        result[t] = {a.x + w * (b.x - a.x), a.y + w * (b.y - a.y), a.z + w * (b.z - a.z), false};
      }
    }
    return result;
  }

  /// Distance of a match in frame t, or none.
  double match(const Filled& r, const Filled& c, int t) const {
    const auto a = r.find(t), b = c.find(t);
    if (a == r.end() || b == c.end() || !b->second.real) return -1;
    const double d =
        std::hypot(a->second.x - b->second.x, a->second.y - b->second.y, a->second.z - b->second.z);
    return d < gate_ ? d : -1;
  }

  double dummy(const Filled& r) const { return gate_ * static_cast<double>(r.size()); }

  /// Infinite where the pair is not feasible.
  double pair_distance(const Filled& r, const Filled& c) const {
    const int r0 = r.begin()->first, r1 = r.rbegin()->first, c0 = c.begin()->first, c1 = c.rbegin()->first;
    double sum = gate_ * (std::abs(r0 - c0) + std::abs(r1 - c1));
    bool feasible = false;
    for (int t = std::max(r0, c0); t <= std::min(r1, c1); ++t) {
      const double d = match(r, c, t);
      feasible = feasible || d >= 0;
      sum += d >= 0 ? d : gate_;
    }
    return feasible ? sum : std::numeric_limits<double>::infinity();
  }

  void try_all(std::vector<int>& choice, double distance) {
    if (choice.size() == reference_.size()) {
      if (distance < best_distance_) {
        best_distance_ = distance;
        best_choice_ = choice;
      }
      return;
    }
    const Filled& r = reference_[choice.size()];
    for (int c = -1; c < static_cast<int>(candidate_.size()); ++c) {
      if (c >= 0 && std::find(choice.begin(), choice.end(), c) != choice.end()) continue;
      const double d = c < 0 ? dummy(r) : pair_distance(r, candidate_[static_cast<std::size_t>(c)]);
      if (!std::isfinite(d)) continue;
      choice.push_back(c);
      try_all(choice, distance + d);
      choice.pop_back();
    }
  }

  ChallengeScores count() const {
    ChallengeScores s;
    s.pairing_distance = best_distance_;
    double squares = 0, spurious = 0;
    std::vector<bool> used(candidate_.size());
    for (std::size_t i = 0; i < reference_.size(); ++i) {
      s.max_pairing_distance += dummy(reference_[i]);
      s.false_negatives += static_cast<std::int64_t>(reference_[i].size());
      if (best_choice_[i] < 0) {
        ++s.missed_tracks;
        continue;
      }
      ++s.paired_tracks;
      used[static_cast<std::size_t>(best_choice_[i])] = true;
      for (const auto& [t, p] : candidate_[static_cast<std::size_t>(best_choice_[i])]) {
        const double d = match(reference_[i], candidate_[static_cast<std::size_t>(best_choice_[i])], t);
        if (d >= 0) {
          ++s.true_positives;
          --s.false_negatives;
          squares += d * d;
        } else if (p.real || reference_[i].count(t) == 0) {
          ++s.false_positives;
        }
      }
    }
    for (std::size_t c = 0; c < candidate_.size(); ++c) {
      if (used[c]) continue;
      ++s.spurious_tracks;
      spurious += dummy(candidate_[c]);
      for (const auto& [t, p] : candidate_[c]) s.false_positives += p.real;
    }
    const double gained = s.max_pairing_distance - s.pairing_distance;
    s.alpha = gained / s.max_pairing_distance;
    s.beta = gained / (s.max_pairing_distance + spurious);
    s.jsc = static_cast<double>(s.true_positives) /
            static_cast<double>(s.true_positives + s.false_negatives + s.false_positives);
    s.jsc_theta = static_cast<double>(s.paired_tracks) /
                  static_cast<double>(s.paired_tracks + s.missed_tracks + s.spurious_tracks);
    s.rmse = s.true_positives > 0 ? std::sqrt(squares / static_cast<double>(s.true_positives)) : 0;
    return s;
  }

  double gate_;
  std::vector<Filled> reference_, candidate_;
  double best_distance_ = 0;
  std::vector<int> best_choice_;
};

void check_same(const ChallengeScores& a, const ChallengeScores& b) {
  CHECK(a.true_positives == b.true_positives);
  CHECK(a.false_negatives == b.false_negatives);
  CHECK(a.false_positives == b.false_positives);
  CHECK(a.paired_tracks == b.paired_tracks);
  CHECK(a.missed_tracks == b.missed_tracks);
  CHECK(a.spurious_tracks == b.spurious_tracks);
  CHECK(a.pairing_distance == Approx(b.pairing_distance).epsilon(1e-12));
  CHECK(a.max_pairing_distance == Approx(b.max_pairing_distance).epsilon(1e-12));
  CHECK(a.alpha == Approx(b.alpha).epsilon(1e-12).margin(1e-12));
  CHECK(a.beta == Approx(b.beta).epsilon(1e-12).margin(1e-12));
  CHECK(a.jsc == Approx(b.jsc).epsilon(1e-12));
  CHECK(a.jsc_theta == Approx(b.jsc_theta).epsilon(1e-12));
  CHECK(a.rmse == Approx(b.rmse).epsilon(1e-12));
}

TrackPoints line(int first, int last, double x, double y, double z, double dx = 0, double dy = 0) {
  TrackPoints track;
  for (int t = first; t <= last; ++t) track.push_back({t, x + dx * (t - first), y + dy * (t - first), z});
  return track;
}

}  // namespace

TEST_CASE("challenge scores of a case calculated by hand") {
  const TrackSet reference =
      make_tracks({line(0, 4, 10, 20, 5, 1), line(2, 7, 50, 52, 5, 0, 1), line(0, 2, 90, 90, 8)});
  TrackPoints b_found = {{2, 50, 52, 5}, {3, 50, 53, 5}, {6, 50, 56, 7}, {7, 50, 57, 7}, {8, 50, 58, 7}};
  const TrackSet candidate = make_tracks({line(0, 3, 11, 20, 5, 1), b_found, line(0, 3, 300, 300, 5)});
  const ChallengeScores s = challenge_scores({}, reference, candidate, 5);
  CHECK(s.alpha == Approx(.385714286).margin(5e-10));
  CHECK(s.beta == Approx(.3).margin(5e-10));
  CHECK(s.jsc == Approx(.421052632).margin(5e-10));
  CHECK(s.jsc_theta == Approx(.5).margin(5e-10));
  CHECK(s.rmse == Approx(1.224744871).margin(5e-10));
  CHECK(s.true_positives == 8);
  CHECK(s.false_negatives == 6);
  CHECK(s.false_positives == 5);
  CHECK(s.paired_tracks == 2);
  CHECK(s.missed_tracks == 1);
  CHECK(s.spurious_tracks == 1);
}

TEST_CASE("challenge scores agree with trying every pairing") {
  const auto seed = GENERATE(range(1, 151));
  CAPTURE(seed);
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  const bool gaps = seed % 3 != 0;
  const auto reference = random_tracks(random, 1 + seed % 5, gaps);
  auto candidate = damaged(random, reference, 0.1 + 0.02 * seed);
  for (const TrackPoints& extra : random_tracks(random, seed % 3, gaps)) candidate.push_back(extra);
  const double gate = 1 + seed % 4;
  check_same(challenge_scores({}, make_tracks(reference), make_tracks(candidate), gate),
             SlowScorer(reference, candidate, gate).best());
}

TEST_CASE("identical gap-free tracks score 1") {
  std::mt19937_64 random(5);
  const TrackSet tracks = make_tracks(random_tracks(random, 50, false));
  const ChallengeScores s = challenge_scores({}, tracks, tracks, 2);
  CHECK(s.alpha == 1);
  CHECK(s.beta == 1);
  CHECK(s.jsc == 1);
  CHECK(s.jsc_theta == 1);
  CHECK(s.rmse == 0);
  CHECK(s.pairing_distance == 0);
  CHECK(s.true_positives == static_cast<std::int64_t>(tracks.points()));
}

TEST_CASE("the order of tracks and the number of threads do not matter") {
  std::mt19937_64 random(6);
  auto reference = random_tracks(random, 80, true, 30);
  auto candidate = damaged(random, reference, 0.7);
  const ChallengeScores s = challenge_scores({1}, make_tracks(reference), make_tracks(candidate), 3);
  const ChallengeScores threaded = challenge_scores({3}, make_tracks(reference), make_tracks(candidate), 3);
  CHECK(s.pairing_distance == threaded.pairing_distance);
  CHECK(s.rmse == threaded.rmse);
  std::shuffle(reference.begin(), reference.end(), random);
  std::shuffle(candidate.begin(), candidate.end(), random);
  check_same(s, challenge_scores({}, make_tracks(reference), make_tracks(candidate), 3));
}

TEST_CASE("a distance equal to the gate is not a match, just below it is one") {
  const TrackSet reference = make_tracks({line(0, 3, 0, 0, 0)});
  const ChallengeScores at = challenge_scores({}, reference, make_tracks({line(0, 3, 3, 4, 0)}), 5);
  CHECK(at.paired_tracks == 0);
  CHECK(at.true_positives == 0);
  CHECK(at.false_positives == 4);
  CHECK(at.alpha == 0);
  CHECK(at.rmse == 0);
  const double below = std::nextafter(5.0, 0.0);
  const ChallengeScores near = challenge_scores({}, reference, make_tracks({line(0, 3, below, 0, 0)}), 5);
  CHECK(near.paired_tracks == 1);
  CHECK(near.true_positives == 4);
}

TEST_CASE("matches across the cells of the grid are found, far from the origin too") {
  const double offset = GENERATE(0.0, -7.5, 1e6, -1e9, 1e17);
  const double shift = GENERATE(-0.999, 0.999);
  CAPTURE(offset, shift);
  std::vector<TrackPoints> reference, candidate;
  for (int i = 0; i < 40; ++i) {
    const double x = offset + 3.1 * i;
    reference.push_back({{0, x, offset, -offset}});
    candidate.push_back({{0, x + shift, offset, -offset}});
  }
  CHECK(challenge_scores({}, make_tracks(reference), make_tracks(candidate), 1).true_positives == 40);
}

TEST_CASE("huge coordinates and frame numbers neither overflow nor take long") {
  const TrackSet reference = make_tracks({{{0, 1e300, -1e300, 0}, {2147483647, 1e300, -1e300, 0}}});
  const TrackSet candidate =
      make_tracks({{{0, 1e300, -1e300, 0}, {1000000000, 1e300, -1e300, 0}}, {{5, -1e300, 1e300, 1e300}}});
  const ChallengeScores s = challenge_scores({}, reference, candidate, 5);
  CHECK(s.true_positives == 2);  // the second is a virtual point of the reference
  CHECK(s.false_negatives == 2147483646);
  CHECK(s.spurious_tracks == 1);
  const ChallengeScores same = challenge_scores({}, reference, reference, 1e-100);
  CHECK(same.true_positives == 2);
}

TEST_CASE("a tie between a pair and the dummy goes to the pair") {
  // One exact match; the candidate starts 4 frames late and ends 1 frame late: 5 gates, the same as the
  // dummy.
  const TrackSet reference = make_tracks({line(0, 4, 0, 0, 0)});
  const ChallengeScores s = challenge_scores({}, reference, make_tracks({line(4, 5, 0, 0, 0)}), 2);
  CHECK(s.paired_tracks == 1);
  CHECK(s.alpha == 0);
  CHECK(s.true_positives == 1);
}

TEST_CASE("challenge scores of empty sets") {
  const TrackSet none, one = make_tracks({line(0, 2, 0, 0, 0)});
  const ChallengeScores both = challenge_scores({}, none, none, 5);
  CHECK(both.alpha == 1);
  CHECK(both.beta == 1);
  CHECK(both.jsc == 1);
  CHECK(both.jsc_theta == 1);
  const ChallengeScores nothing_found = challenge_scores({}, one, none, 5);
  CHECK(nothing_found.alpha == 0);
  CHECK(nothing_found.beta == 0);
  CHECK(nothing_found.jsc == 0);
  CHECK(nothing_found.false_negatives == 3);
  const ChallengeScores nothing_true = challenge_scores({}, none, one, 5);
  CHECK(nothing_true.alpha == 0);
  CHECK(nothing_true.beta == 0);
  CHECK(nothing_true.jsc == 0);
  CHECK(nothing_true.false_positives == 3);
}

TEST_CASE("invalid tracks and gates are rejected") {
  const TrackSet good = make_tracks({line(0, 2, 0, 0, 0)});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [&](const TrackSet& bad, const std::string& why) {
    CHECK_THROWS_AS(challenge_scores({}, bad, good, 5), InputError);
    CHECK_THROWS_WITH(challenge_scores({}, bad, good, 5), "the true tracks: track 0 " + why);
    CHECK_THROWS_WITH(challenge_scores({}, good, bad, 5), "the found tracks: track 0 " + why);
  };
  refused(make_tracks({{{3, 0, 0, 0}, {3, 1, 0, 0}}}),
          "has two points in frame 3; keep one point a frame, in order");
  refused(make_tracks({{{3, 0, 0, 0}, {2, 1, 0, 0}}}),
          "has points out of order in frame 2; keep one point a frame, in order");
  refused(make_tracks({{{-1, 0, 0, 0}}}), "has a point in frame -1; frames count from 0");
  refused(make_tracks({{{7, 0, nan, 0}}}), "has no finite position in frame 7; remove that point");
  refused(make_tracks({{}}), "has no points; remove it");
  for (const double gate : {0.0, -1.0, nan, 1e200, std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(challenge_scores({}, good, good, gate), UsageError);
}
