// Divisions: the choice compared with brute force, the divisions found in series with and without any, and
// the resulting tracks and scores.

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <span>
#include <utility>

#include <catch2/catch.hpp>

#include <motes/tracking/link_score.h>
#include <motes/tracking/series_links.h>

#include "tests/tracking/link/dividing_cells.h"
#include "tests/tracking/score/score_cases.h"
#include "tracking/link/events/division_scene.h"
#include "tracking/link/events/divisions.h"
#include "tracking/link/motion/field.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;
using motes::testing::Life;
using motes::testing::live;
using motes::testing::make_tracks;

namespace {

/// The largest gain by candidates with links, with each start and each mother at most once.
double best_by_trial(const std::vector<detail::DivisionCandidate>& candidates,
                     const std::vector<double>& gain, std::size_t from, std::set<Index>& starts,
                     std::set<Index>& mothers) {
  if (from == candidates.size()) return 0;
  double best = best_by_trial(candidates, gain, from + 1, starts, mothers);
  const auto& c = candidates[from];
  if (gain[from] > 0 && !starts.contains(c.start) && !mothers.contains(c.mother)) {
    starts.insert(c.start), mothers.insert(c.mother);
    best = std::max(best, gain[from] + best_by_trial(candidates, gain, from + 1, starts, mothers));
    starts.erase(c.start), mothers.erase(c.mother);
  }
  return best;
}

detail::DivisionScene random_scene(std::mt19937_64& rng) {
  std::uniform_int_distribution<Index> which(0, 4);
  std::uniform_real_distribution<> uniform(0, 1);
  detail::DivisionScene scene;
  scene.links = 1000, scene.starts = 5, scene.ends = 5;
  for (int k = 0; k < 12; ++k) {
    detail::DivisionCandidate c{which(rng), Index{100}, Index{200}, false};
    c.linked += c.mother, c.start += which(rng);
    c.middle = 0.6 * uniform(rng), c.apart = 0.3 + uniform(rng);
    c.residual = 0.5 * c.apart, c.scale = 0.05 + 0.2 * uniform(rng);
    scene.candidates.push_back(c);
  }
  return scene;
}

SeriesLinks linked(const std::vector<Detections>& frames, Events events = Events::automatic) {
  SeriesOptions options;
  options.events = events;
  options.model = MotionModel::standing;
  return link_series({}, frames, options);
}

}  // namespace

TEST_CASE("the divisions chosen gain as much as any choice can") {
  std::mt19937_64 rng(11);
  const DivisionModel model;
  for (int round = 0; round < 200; ++round) {
    const detail::DivisionScene scene = random_scene(rng);
    std::vector<double> gain;
    for (const auto& c : scene.candidates) gain.push_back(detail::division_gain(model, scene, c));
    std::set<Index> starts, mothers;
    const double best = best_by_trial(scene.candidates, gain, 0, starts, mothers);
    double sum = 0;
    for (const std::size_t k : detail::choose_divisions({}, model, scene)) {
      const auto& c = scene.candidates[k];
      CHECK(starts.insert(c.start).second);
      CHECK(mothers.insert(c.mother).second);
      sum += gain[k];
    }
    INFO("round " << round);
    CHECK(sum == Approx(best).margin(1e-9));
  }
}

TEST_CASE("an ended mother gets both daughters or none") {
  detail::DivisionScene scene;
  scene.links = 1000, scene.starts = 3, scene.ends = 1;
  const auto offer = [&](Index linked, Index start, double middle, double apart) {
    detail::DivisionCandidate c{0, linked, start, true};
    c.middle = middle, c.apart = apart, c.residual = apart / 2;
    scene.candidates.push_back(c);
  };
  offer(10, 11, 0.05, 0.7), offer(11, 10, 0.05, 0.7);
  offer(10, 12, 0.9, 1.6), offer(12, 10, 0.9, 1.6);
  const auto chosen = detail::choose_divisions({}, {}, scene);
  REQUIRE(chosen.size() == 1);
  const auto& c = scene.candidates[chosen.front()];
  CHECK(std::minmax(c.linked, c.start) == std::pair<const Index&, const Index&>(10, 11));
  // A single start is not a division.
  scene.candidates.resize(2);
  scene.candidates[0].middle = scene.candidates[1].middle = 5;
  CHECK(detail::choose_divisions({}, {}, scene).empty());
}

TEST_CASE("series that divide: mothers, daughters and parents are found") {
  Life life;
  life.division = 0.03;
  const auto [truth, frames] = live(life, 3);
  const SeriesLinks links = linked(frames);
  INFO("found " << links.divisions.found << ", backwards " << links.divisions.backwards.value_or(0)
                << ", misplaced " << links.divisions.misplaced.value_or(0));
  REQUIRE(links.divisions.significant);
  CHECK(static_cast<double>(links.divisions.backwards.value()) <
        0.1 * static_cast<double>(links.divisions.found));
  for (const Division& d : links.divisions.list) {
    CHECK(links.points.slot[static_cast<std::size_t>(d.mother)] + 1 ==
          links.points.slot[static_cast<std::size_t>(d.first)]);
    CHECK(links.points.slot[static_cast<std::size_t>(d.first)] ==
          links.points.slot[static_cast<std::size_t>(d.second)]);
    CHECK(links.linking.next[static_cast<std::size_t>(d.mother)] == -1);
    CHECK(links.linking.previous[static_cast<std::size_t>(d.first)] == -1);
    CHECK(links.linking.previous[static_cast<std::size_t>(d.second)] == -1);
    CHECK(d.gain > 0);
  }
  const TrackSet found = build_tracks(frames, links);
  REQUIRE(found.parent.size() == found.tracks());
  CHECK(std::count_if(found.parent.begin(), found.parent.end(), [](auto p) { return p >= 0; }) ==
        2 * std::ssize(links.divisions.list));
  const LinkScores scores = link_scores({}, truth, found, 1e-6);
  CHECK(scores.division.f1 > 0.85);
  CHECK(scores.f1 > 0.97);

  const SeriesLinks none = linked(frames, Events::none);
  CHECK(none.divisions.found == 0);
  CHECK(build_tracks(frames, none).parent.empty());
}

TEST_CASE("if many divisions are doubtful, the surest are kept and links are not lost") {
  Life life;
  life.step = 0.22, life.division = 0.05;
  const auto [truth, frames] = live(life, 6);
  const SeriesLinks all = linked(frames, Events::divisions), sure = linked(frames),
                    none = linked(frames, Events::none);
  REQUIRE(sure.divisions.significant);
  INFO(all.divisions.list.size() << " found, " << sure.divisions.list.size() << " kept");
  CHECK(sure.divisions.list.size() < all.divisions.list.size());
  CHECK(!sure.divisions.list.empty());
  std::set<Index> kept;
  double least = HUGE_VAL;
  for (const Division& d : sure.divisions.list) kept.insert(d.mother), least = std::min(least, d.gain);
  for (const Division& d : all.divisions.list)
    CHECK((kept.contains(d.mother) ? d.gain >= least : d.gain <= least));
  const auto f1 = [&](const SeriesLinks& links) {
    return link_scores({}, truth, build_tracks(frames, links), 1e-6).f1;
  };
  INFO("link F1 with all " << f1(all) << ", the sure " << f1(sure) << ", none " << f1(none));
  CHECK(f1(sure) > f1(none) - 0.003);
  CHECK(f1(sure) > f1(all));
}

TEST_CASE("series that do not divide get no division") {
  const auto seed = GENERATE(1u, 2u, 3u);
  const auto faults = GENERATE(false, true);
  const auto turnover = GENERATE(0.0, 0.05);
  Life life;
  life.step = 0.2;
  life.birth = life.death = turnover;
  if (faults) life.missed = life.clutter = 0.1;
  const auto frames = live(life, seed).frames;
  const SeriesLinks links = linked(frames);
  INFO("seed " << seed << ", found " << links.divisions.found << ", backwards "
               << links.divisions.backwards.value_or(0) << ", misplaced "
               << links.divisions.misplaced.value_or(0));
  CHECK_FALSE(links.divisions.significant);
  CHECK(links.divisions.list.empty());
  CHECK(build_tracks(frames, links).parent.empty());
}

TEST_CASE("particles that only appear are not divisions") {
  Life life;
  life.birth = 0.08;
  const SeriesLinks links = linked(live(life, 5).frames);
  INFO("found " << links.divisions.found << ", backwards " << links.divisions.backwards.value_or(0)
                << ", misplaced " << links.divisions.misplaced.value_or(0));
  CHECK_FALSE(links.divisions.significant);
}

TEST_CASE("young mothers and short-lived daughters are evidence against a division") {
  // Cells divide after 8 frames or more. False tracks beside cells last for five frames.
  Life life;
  life.frames = 40, life.particles = 80, life.step = 0.05;
  life.division = 0.1, life.cycle = 8, life.beside = 0.01;
  const auto [truth, frames] = live(life, 8);
  const SeriesLinks links = linked(frames);
  REQUIRE(links.divisions.significant);
  const auto& [age, lasts, odds] = links.divisions.model.evidence;
  // Ages of 3 to 4 and of 9 to 16 frames; lives of 5 to 8 and of 9 to 16.
  CHECK(age[3] < -1);
  CHECK(age[5] > 0.3);
  CHECK(lasts[4] < -1);
  CHECK(lasts[5] > 0.3);
  for (const double nats : odds) CHECK(nats == 0);
  const DivisionScores scores = link_scores({}, truth, build_tracks(frames, links), 1e-6).division;
  INFO(scores.true_divisions << " true, " << scores.false_divisions << " false, " << scores.missed_divisions
                             << " missed");
  CHECK(scores.f1 > 0.9);
}

TEST_CASE("odds of being a particle are evidence for divisions") {
  Life life;
  life.step = 0.1, life.division = 0.03, life.beside = 0.03, life.beside_frames = 20;
  const auto [truth, frames] = live(life, 9);
  const SeriesLinks links = linked(frames, Events::none);
  std::set<std::pair<std::int64_t, double>> real;
  for (std::size_t p = 0; p < truth.points(); ++p) real.emplace(truth.frame[p], truth.x_um[p]);
  std::vector<double> odds;
  std::mt19937_64 rng(9);
  std::normal_distribution<> normal;
  for (std::size_t i = 0; i < links.points.size(); ++i)
    odds.push_back(normal(rng) + (real.contains({links.points.slot[i], links.points.at[i].x}) ? 2 : -2));
  const SeriesLists lists(links.points);
  const auto right = [&](std::span<const double> log_odds) {
    SeriesLinks found = links;
    found.divisions =
        detail::find_divisions({}, links.points, links.linking, lists, log_odds, false, detail::Accept::all);
    cut_at_divisions(found.divisions.list, found.linking);
    return link_scores({}, truth, build_tracks(frames, found), 1e-6).division;
  };
  const DivisionScores without = right({}), with = right(odds);
  INFO("without odds " << without.true_divisions << " true, " << without.false_divisions
                       << " false; with odds " << with.true_divisions << ", " << with.false_divisions
                       << "; missed " << with.missed_divisions);
  CHECK(with.true_divisions > 1.1 * static_cast<double>(without.true_divisions));
  CHECK(with.false_divisions < 0.75 * static_cast<double>(without.false_divisions));
}

TEST_CASE("divisions are the same for any thread count") {
  Life life;
  life.division = 0.03;
  const auto frames = live(life, 4).frames;
  const SeriesLinks links = linked(frames);
  for (const int threads : {1, 3}) {
    Execution execution;
    execution.threads = threads;
    const Divisions again = find_divisions(execution, links.points, links.linking, false);
    const Divisions one = find_divisions({}, links.points, links.linking, false);
    CHECK(again.found == one.found);
    CHECK(again.model.middle == one.model.middle);
  }
}

TEST_CASE("scores of divisions") {
  // A mother at x = 0 in frames 0 to 2, daughters at +-1 in frames 3 to 6, and another particle.
  const auto at = [](double x, int from, int to) {
    testing::TrackPoints points;
    for (int t = from; t <= to; ++t) points.push_back({t, x, 0, 0});
    return points;
  };
  const TrackSet truth = make_tracks({at(0, 0, 2), at(-1, 3, 6), at(1, 3, 6), at(9, 0, 6)}, {-1, 0, 0, -1});
  const auto scores = [&](const TrackSet& found) { return link_scores({}, truth, found, 0.4).division; };
  const DivisionScores right = scores(truth);
  CHECK(right.f1 == 1);
  CHECK(right.f1_within_one == 1);
  CHECK(scores(make_tracks({at(0, 0, 2), at(-1, 3, 6), at(1, 3, 6), at(9, 0, 6)})).missed_divisions == 1);
  // One frame late: the mother's track continues to the place of the first daughter.
  testing::TrackPoints longer = at(0, 0, 2);
  longer.push_back({3, -1, 0, 0});
  const DivisionScores late = scores(make_tracks({longer, at(-1, 4, 6), at(1, 4, 6)}, {-1, 0, 0}));
  CHECK(late.true_divisions == 0);
  CHECK(late.false_divisions == 1);
  CHECK(late.missed_divisions == 1);
  CHECK(late.f1_within_one == 1);
  // Two frames late is false.
  longer.push_back({4, -1, 0, 0});
  CHECK(scores(make_tracks({longer, at(-1, 5, 6), at(1, 5, 6)}, {-1, 0, 0})).f1_within_one == 0);
  // The other particle as a daughter: false.
  CHECK(scores(make_tracks({at(0, 0, 2), at(-1, 3, 6), at(9, 3, 6)}, {-1, 0, 0})).f1_within_one == 0);
  // A single daughter is not a division.
  CHECK(scores(make_tracks({at(0, 0, 2), at(-1, 3, 6)}, {-1, 0})).false_divisions == 0);
  // A false division.
  const TrackSet two = make_tracks(
      {at(0, 0, 2), at(-1, 3, 6), at(1, 3, 6), at(9, 0, 2), at(9, 3, 6), at(20, 3, 6)}, {-1, 0, 0, -1, 3, 3});
  CHECK(scores(two).precision == 0.5);
  CHECK(scores(two).recall == 1);
}
