// Merges: the mirror image of divisions, the tracks they end, and divisions beside them.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/index.h>
#include <motes/tracking/confidence.h>
#include <motes/tracking/link_score.h>
#include <motes/tracking/series_links.h>
#include <motes/tracking/track_filter.h>

#include "tests/tracking/link/dividing_cells.h"
#include "tracking/link/events/divisions.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;
using motes::testing::Life;
using motes::testing::live;

namespace {

SeriesLinks linked(const std::vector<Detections>& frames, Events events) {
  SeriesOptions options;
  options.events = events;
  options.model = MotionModel::standing;
  return link_series({}, frames, options);
}

DivisionScores score_of_merges(const TrackSet& truth, const TrackSet& found, int frames) {
  return link_scores({}, testing::reversed(truth, frames), testing::reversed(found, frames), 1e-6).division;
}

}  // namespace

TEST_CASE("merges are the divisions of the reversed series") {
  Life life;
  life.division = 0.03;
  const SeriesLinks links = linked(live(life, 3).frames, Events::none);
  const auto n = static_cast<Index>(links.points.size());
  // The same links in reversed time: detection i becomes n - 1 - i.
  SeriesPoints points = links.points;
  std::reverse(points.at.begin(), points.at.end());
  std::reverse(points.hash.begin(), points.hash.end());
  std::reverse(points.density.begin(), points.density.end());
  for (std::size_t i = 0; i < points.slot.size(); ++i)
    points.slot[i] = points.frames() - 1 - links.points.slot[points.slot.size() - 1 - i];
  for (std::size_t t = 0; t < points.offset.size(); ++t)
    points.offset[t] = n - links.points.offset[points.offset.size() - 1 - t];
  SeriesLinking linking = links.linking;
  std::swap(linking.next, linking.previous);
  for (auto* side : {&linking.next, &linking.previous}) {
    std::reverse(side->begin(), side->end());
    for (Index& i : *side) i = i < 0 ? i : n - 1 - i;
  }
  for (const bool all : {false, true}) {
    const Divisions divisions = find_divisions({}, links.points, links.linking, all);
    const Divisions merges = find_merges({}, points, linking, all);
    REQUIRE(!divisions.list.empty());
    CHECK(merges.significant == divisions.significant);
    CHECK(merges.found == divisions.found);
    CHECK(merges.backwards == divisions.backwards);
    REQUIRE(merges.list.size() == divisions.list.size());
    for (std::size_t k = 0; k < merges.list.size(); ++k) {
      const Division &m = merges.list[k], &d = divisions.list[merges.list.size() - 1 - k];
      CHECK(m.mother == n - 1 - d.mother);
      CHECK(std::pair(m.first, m.second) == std::pair(n - 1 - d.second, n - 1 - d.first));
    }
    CHECK(find_merges({}, links.points, links.linking, false).list.empty());
  }
}

TEST_CASE("particles that merge: both tracks end and name the merged particle") {
  Life life;
  life.division = 0.03;
  const auto [dividing, frames] = live(life, 3);
  const TrackSet truth = testing::reversed(dividing, life.frames);
  const std::vector<Detections> merging = testing::reversed(frames);
  const SeriesLinks links = linked(merging, Events::merges);
  INFO("found " << links.merges.found << ", misplaced " << links.merges.misplaced.value_or(0));
  REQUIRE(links.merges.significant);
  CHECK_FALSE(links.divisions.significant);
  for (const Division& d : links.merges.list) {
    for (const Index before : {d.first, d.second}) {
      CHECK(links.points.slot[at(before)] + 1 == links.points.slot[at(d.mother)]);
      CHECK(links.linking.next[at(before)] == -1);
    }
    CHECK(links.linking.previous[at(d.mother)] == -1);
  }
  TrackSet found = build_tracks(merging, links);
  CHECK(found.parent.empty());
  REQUIRE(found.merged_into.size() == found.tracks());
  CHECK(std::count_if(found.merged_into.begin(), found.merged_into.end(), [](auto id) { return id >= 0; }) ==
        2 * std::ssize(links.merges.list));
  const DivisionScores mirrored = score_of_merges(truth, found, life.frames),
                       scores = link_scores({}, truth, found, 1e-6).merge;
  CHECK(scores.f1 > 0.85);
  CHECK(scores.f1 == mirrored.f1);
  CHECK(scores.false_divisions == mirrored.false_divisions);
  CHECK(scores.true_within_one == mirrored.true_within_one);
  CHECK(link_scores({}, truth, found, 1e-6).division.f1 == 0);
  CHECK(linked(merging, Events::automatic).merges.list.empty());
  CHECK(linked(merging, Events::divisions).merges.found == 0);

  // Starts of merged particles have a confidence, other starts none; unlikely merges are cut.
  SeriesLinks sure = links;
  Confidence confidence;
  confidence.link.assign(links.points.size(), 1);
  add_confidence(confidence, sure, found);
  const auto& column = found.point_properties.back();
  REQUIRE(column.name == "link_confidence");
  for (std::size_t t = 0; t < found.tracks(); ++t) {
    const bool merged = std::count(found.merged_into.begin(), found.merged_into.end(), found.track_id[t]) > 0;
    CHECK(std::isnan(column.values[at(found.track_offsets[t])]) == !merged);
  }
  cut_unsure_links(confidence, 0.99, sure);
  CHECK(sure.merges.list.size() < links.merges.list.size());
  CHECK(!sure.merges.list.empty());

  // No track names one that is left out.
  std::vector<char> left_out(found.tracks(), 0);
  const std::int64_t one = *std::max_element(found.merged_into.begin(), found.merged_into.end());
  left_out[at(one)] = 1;
  found = without_tracks(std::move(found), left_out);
  CHECK(found.merged_into.size() == found.tracks());
  CHECK(std::count(found.merged_into.begin(), found.merged_into.end(), one) == 0);
}

TEST_CASE("particles that neither merge nor divide get no event") {
  Life life;
  life.step = 0.2;
  life.birth = life.death = 0.05;
  life.missed = life.clutter = 0.1;
  const SeriesLinks links = linked(live(life, 1).frames, Events::merges);
  INFO("divisions " << links.divisions.found << ", misplaced " << links.divisions.misplaced.value_or(0)
                    << "; merges " << links.merges.found << ", misplaced "
                    << links.merges.misplaced.value_or(0));
  CHECK(links.divisions.list.empty());
  CHECK(links.merges.list.empty());
}

TEST_CASE("particles that divide and merge get both, and no link belongs to two events") {
  // A dividing series and a merging one side by side.
  Life life;
  life.division = 0.03;
  const auto [dividing, frames] = live(life, 3);
  std::vector<Detections> both = testing::reversed(live(life, 4).frames);
  for (std::size_t t = 0; t < both.size(); ++t)
    for (std::size_t k = 0; k < frames[t].size(); ++k) {
      both[t].x_um.push_back(frames[t].x_um[k] + 100);
      both[t].y_um.push_back(frames[t].y_um[k]);
      both[t].z_um.push_back(frames[t].z_um[k]);
    }
  const SeriesLinks links = linked(both, Events::merges);
  const auto there = [&](const Divisions& events, bool right) {
    return std::count_if(events.list.begin(), events.list.end(),
                         [&](const Division& d) { return (links.points.at[at(d.mother)].x > 50) == right; });
  };
  INFO(links.divisions.list.size() << " divisions, " << links.merges.list.size() << " merges");
  CHECK(there(links.divisions, true) > 5 * there(links.divisions, false));
  CHECK(there(links.merges, false) > 5 * there(links.merges, true));

  // Detections 0 and 1 become 2 and 3: the likelier event of the link 0 -> 2 stays.
  for (const double gain : {1.0, 3.0}) {
    Divisions divisions, merges;
    divisions.list = {{0, 2, 3, 2.0}, {10, 12, 13, 0.5}};
    merges.list = {{2, 0, 1, gain}, {22, 20, 21, 0.5}};
    detail::keep_apart(divisions, merges);
    REQUIRE(divisions.list.size() == (gain < 2 ? 2u : 1u));
    REQUIRE(merges.list.size() == (gain < 2 ? 1u : 2u));
    CHECK(divisions.list.back().mother == 10);
    CHECK(merges.list.back().mother == 22);
  }
}
