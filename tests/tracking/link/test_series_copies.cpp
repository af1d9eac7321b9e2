// Series in which many detections coincide: other detections are linked as without them, and copies follow
// one of them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/index.h>
#include <motes/tracking/confidence.h>
#include <motes/tracking/linker.h>
#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"

using namespace motes;
using namespace motes::tracking;

namespace {

void add_copies(Detections& d, int copies, const Vec3& p) {
  d.x_um.insert(d.x_um.end(), at(copies), p.x);
  d.y_um.insert(d.y_um.end(), at(copies), p.y);
  d.z_um.insert(d.z_um.end(), at(copies), p.z);
}

constexpr Vec3 kPlace{-20, -20, -20};

/// The links of the detections of frame t as indices in the next frame; -1: none, or over a gap.
std::vector<matching::Index> next_in_frame(const SeriesLinks& links, std::int32_t t) {
  std::vector<matching::Index> out;
  const auto& offset = links.points.offset;
  for (auto i = offset[at(t)]; i < offset[at(t) + 1]; ++i) {
    const auto j = links.linking.next[at(i)];
    out.push_back(j >= 0 && links.points.slot[at(j)] == t + 1 ? j - offset[at(t) + 1] : -1);
  }
  return out;
}

void check_one_to_one(const SeriesLinks& links) {
  for (std::size_t i = 0; i < links.linking.next.size(); ++i) {
    if (const auto j = links.linking.next[i]; j >= 0)
      CHECK(links.linking.previous[at(j)] == matching::Index(i));
    if (const auto p = links.linking.previous[i]; p >= 0)
      CHECK(links.linking.next[at(p)] == matching::Index(i));
  }
}

/// Walkers at unit density.
std::vector<Detections> walkers(int n, int count, double step) {
  std::normal_distribution<> normal;
  return testing::walkers_moved(n, count, 5,
                                [&](std::mt19937_64& rng) {
                                  return [&](Vec3& p) {
                                    p.x += step * normal(rng), p.y += step * normal(rng),
                                        p.z += step * normal(rng);
                                  };
                                })
      .frames;
}

}  // namespace

TEST_CASE("a series with many detections at one place is linked as with one of them, and copies follow it") {
  const auto series = walkers(60, 6, 0.12);
  std::vector<Detections> with_one = series, crowded = series;
  const int copies[] = {300, 300, 290, 0, 310, 2};
  for (std::size_t t = 0; t < crowded.size(); ++t) {
    add_copies(with_one[t], std::min(copies[t], 1), kPlace);
    add_copies(crowded[t], copies[t], kPlace);
  }
  const SeriesLinks expected = link_series({1}, with_one, {}), found = link_series({1}, crowded, {});
  REQUIRE(found.points.size() == found.linking.next.size());
  check_one_to_one(found);
  std::int64_t of_copies = 0;
  for (std::int32_t t = 0; t + 1 < found.points.frames(); ++t) {
    CAPTURE(t);
    auto links = next_in_frame(found, t);
    const auto one = next_in_frame(expected, t);
    CHECK(std::vector(links.begin(), links.begin() + std::ssize(one)) == one);
    // The k-th copy is followed by the k-th copy.
    const std::size_t here = series[at(t)].size();
    const std::size_t there = series[at(t) + 1].size();
    const auto both = at(std::min(copies[t], copies[t + 1]));
    for (std::size_t k = 0; k < both; ++k) CHECK(links[here + k] == matching::Index(there + k));
    for (std::size_t k = both; k < at(copies[t]); ++k) CHECK(links[here + k] == -1);
    of_copies += std::max<std::int64_t>(std::int64_t(both) - 1, 0);
  }
  // Also over the frame without any: 290 of frame 2 with 290 of frame 4.
  CHECK(found.gap_links == expected.gap_links + 289);
  CHECK(found.links == expected.links + of_copies + 289);
  CHECK(build_tracks(crowded, found).points() == found.points.size());
}

TEST_CASE("the probability of a link to a copy is divided by the number of copies") {
  auto series = walkers(60, 6, 0.12);
  const SeriesLinks alone = link_series({1}, series, {});
  for (Detections& d : series) add_copies(d, 300, kPlace);
  const SeriesLinks links = link_series({1}, series, {});
  const Confidence confidence = link_confidence({1}, links, {});
  REQUIRE(confidence.link.size() == links.points.size());
  double wrong = 0;
  for (std::size_t i = 0; i < links.points.size(); ++i) {
    CHECK(std::isnan(confidence.link[i]) == (links.linking.next[i] < 0));
    if (links.linking.next[i] < 0) continue;
    if (links.points.at[i].x == kPlace.x) CHECK(confidence.link[i] <= 1.0 / 300);
    wrong += 1 - confidence.link[i];
  }
  CHECK(links.links == alone.links + 1500);
  CHECK(confidence.wrong == Approx(wrong / static_cast<double>(links.links)).margin(0.01));
  CHECK(confidence.wrong > 0.8);
}

TEST_CASE("few links of equal cost are candidates, and each detection has different ones") {
  auto frames = walkers(50, 3, 0.1);
  constexpr int kPlaces = 5, kCopies = 200, kMost = 20, kTied = 32;
  for (std::size_t t = 0; t < frames.size(); ++t) {
    for (int k = 0; k < kPlaces; ++k) add_copies(frames[t], kCopies, {-20.0 - 9 * k, -20, 3.0 * k});
    // So that indices within the frames differ.
    auto& d = frames[t];
    for (auto* column : {&d.x_um, &d.y_um, &d.z_um})
      column->erase(column->begin(), column->begin() + static_cast<std::ptrdiff_t>(7 * t));
  }
  const SeriesPoints points = pool_points(frames);
  const SeriesModel model = first_model(points, {}, 2);
  const SeriesCandidates candidates =
      likely_candidates({1}, points, {}, model, 2, SeriesLinking::none(points.size()), 12, kMost);
  for (std::size_t i = 0; i < points.size(); ++i)
    REQUIRE(candidates.row_offsets[i + 1] - candidates.row_offsets[i] <= kMost + kTied);
  const SeriesSolution solved = solve_series(
      {1}, points, model, candidates, candidate_costs({1}, points, {}, model, candidates), "auto", true);
  CHECK(solved.verified);
  for (matching::Index i = 0; i < points.offset[2]; ++i) {
    if (points.at[at(i)].x > -20) continue;
    const auto j = solved.linking.next[at(i)];
    REQUIRE(j >= points.offset[at(points.slot[at(i)]) + 1]);
    REQUIRE(points.slot[at(j)] == points.slot[at(i)] + 1);
    CHECK(points.at[at(j)].x == points.at[at(i)].x);
  }
}

TEST_CASE("if detections coincide at many places, few of them are enough for copies") {
  std::vector<Detections> frames(3);
  const int places = GENERATE(50, 1500), copies = 20;
  for (std::size_t t = 0; t < frames.size(); ++t) {
    frames[t].frame = static_cast<std::int32_t>(t);
    for (int k = 0; k < places; ++k) add_copies(frames[t], copies, {2.0 * k, 3.0 * (k % 40), 1.0 * (k % 7)});
  }
  const SeriesLinks links = link_series({1}, frames, {});
  CHECK(links.copy_of.empty() == (places == 50));
  CHECK(links.links == std::int64_t{2} * places * copies);
  for (std::size_t i = 0; i < links.points.size(); ++i)
    if (const auto j = links.linking.next[i]; j >= 0)
      REQUIRE(links.points.at[at(j)].x == links.points.at[i].x);
}

TEST_CASE("a series of a hundred thousand detections at one place is linked") {
  std::vector<Detections> frames(3);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    frames[t].frame = static_cast<std::int32_t>(t);
    add_copies(frames[t], 100'000, {1, 2, 3});
  }
  const SeriesLinks links = link_series({1}, frames, {});
  CHECK(links.links == 200'000);
  CHECK(link_confidence({1}, links, {}).link.size() == 300'000);
}
