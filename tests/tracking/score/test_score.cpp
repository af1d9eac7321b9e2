#include <stdexcept>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/score_tracks.h>

#include "tests/tracking/score/score_cases.h"
#include "tracking/score/assign.h"

using namespace motes;
using namespace motes::tracking;
using motes::testing::make_tracks;

TEST_CASE("score_tracks gives both scores, each with its gate") {
  const TrackSet truth = make_tracks({{{0, 0, 0, 0}, {1, 0, 0, 0}}}),
                 found = make_tracks({{{0, 3, 0, 0}, {1, 3, 0, 0}}});
  ScoreOptions options;
  const Scores same = score_tracks({}, truth, found, options);
  CHECK(same.gate == 5);
  CHECK(same.gate_link == 5);
  CHECK(same.challenge.true_positives == 2);
  CHECK(same.link.true_links == 1);
  options.gate_link = 2;
  const Scores apart = score_tracks({}, truth, found, options);
  CHECK(apart.gate_link == 2);
  CHECK(apart.challenge.true_positives == 2);
  CHECK(apart.link.true_links == 0);
}

TEST_CASE("score_tracks rejects gates that are not lengths and different units") {
  const TrackSet tracks = make_tracks({{{0, 0, 0, 0}}});
  CHECK_THROWS_AS(score_tracks({}, tracks, tracks, {.gate = 0}), UsageError);
  CHECK_THROWS_AS(score_tracks({}, tracks, tracks, {.gate = 5, .gate_link = -1}), UsageError);
  TrackSet pixels = tracks;
  pixels.length_unit = "px";
  CHECK_THROWS_AS(score_tracks({}, tracks, pixels, {}), InputError);
}

TEST_CASE("keep_every drops frames and divides the others") {
  TrackSet tracks = make_tracks({{{0, 1, 2, 3}, {1, 4, 5, 6}, {4, 7, 8, 9}}, {{3, 0, 0, 0}}, {{2, 1, 1, 1}}});
  tracks.dt_s = 0.5;
  tracks.point_properties = {{"radius", {10, 11, 12, 13, 14}}};
  tracks.track_properties = {{"kind", {20, 21, 22}}};
  const TrackSet kept = keep_every(tracks, 2);
  CHECK(kept.track_offsets == std::vector<std::int64_t>{0, 2, 3});
  CHECK(kept.track_id == std::vector<std::int64_t>{0, 2});
  CHECK(kept.frame == std::vector<std::int32_t>{0, 2, 1});
  CHECK(kept.time_s == std::vector<double>{0, 4, 2});
  CHECK(kept.x_um == std::vector<double>{1, 7, 1});
  CHECK(kept.z_um == std::vector<double>{3, 9, 1});
  CHECK(kept.point_properties[0].values == std::vector<double>{10, 12, 14});
  CHECK(kept.track_properties[0].values == std::vector<double>{20, 22});
  CHECK(kept.dt_s == 1.0);
  CHECK(kept.parent.empty());
  CHECK(keep_every(tracks, 1).frame == tracks.frame);
  CHECK(keep_every(tracks, 7).tracks() == 1);
  CHECK_THROWS_AS(keep_every(tracks, 0), UsageError);
  CHECK_THROWS_AS(keep_every(tracks, -3), UsageError);
}

TEST_CASE("keep_every keeps lineages whole") {
  const auto point = [](int frame) { return motes::testing::TrackPoints{{frame, 0, 0, 0}}; };
  // 0 -> 1 (dropped) -> 2; 3 and 4 form a cycle (damaged input); 5 has an unknown mother.
  const TrackSet tracks = make_tracks({point(0), point(1), point(2), point(4), point(5), point(6), point(6)},
                                      {-1, 0, 1, 4, 4, 99, 2});
  const TrackSet kept = keep_every(tracks, 2);
  CHECK(kept.track_id == std::vector<std::int64_t>{0, 2, 3, 5, 6});
  CHECK(kept.parent == std::vector<std::int64_t>{-1, 0, -1, -1, 2});
  // 0 merges into 1 (dropped), which merges into 2; 3 into itself by way of 4, 5 into none.
  TrackSet merging = tracks;
  merging.parent.clear();
  merging.merged_into = {1, 2, -1, 4, 4, 99, -1};
  CHECK(keep_every(merging, 2).parent.empty());
  CHECK(keep_every(merging, 2).merged_into == std::vector<std::int64_t>{2, -1, -1, -1, -1});
}

TEST_CASE("assign finds the optimum and prefers pairs on ties") {
  detail::RealCosts problem;
  problem.graph = {2, 2, {0, 2, 3}, {0, 1, 0}};
  problem.cost = {1.0, 1.5, 1.2};
  problem.unmatched_row_cost = {2, 2};
  CHECK(detail::assign({}, problem) == std::vector<matching::Index>{1, 0});
  problem.unmatched_row_cost = {2, 0.2};
  CHECK(detail::assign({}, problem) == std::vector<matching::Index>{0, -1});
  problem.cost = {2, 3, 3};
  problem.unmatched_row_cost = {2, 2};
  CHECK(detail::assign({}, problem) == std::vector<matching::Index>{0, -1});
  CHECK(detail::assign({}, {}).empty());
}
