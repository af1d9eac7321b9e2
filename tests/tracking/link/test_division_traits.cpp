// Traits of cells as evidence for divisions: ages and lives compared with a walk along each track, and the
// evidence of classes.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "tracking/link/events/division_traits.h"

using namespace motes::tracking;
using motes::matching::Index;

namespace {

/// The arrays of tracks.
struct Series {
  std::vector<Index> next, previous;
  std::vector<std::int32_t> slot;
  std::int32_t frames = 0;

  detail::CellTracks tracks(bool backwards) const {
    return {backwards ? next : previous, backwards ? previous : next, slot, frames, backwards};
  }
};

/// Random tracks with gaps.
Series random_series(std::mt19937_64& rng, std::int32_t frames) {
  Series series;
  series.frames = frames;
  std::uniform_int_distribution<int> count(0, 6), gap(1, 3), coin(0, 3);
  for (std::int32_t t = 0; t < frames; ++t)
    for (int k = count(rng); k > 0; --k) series.slot.push_back(t);
  const std::size_t n = series.slot.size();
  series.next.assign(n, -1), series.previous.assign(n, -1);
  for (std::size_t i = 0; i < n; ++i) {
    const int lag = gap(rng);
    for (std::size_t j = i + 1; j < n; ++j)
      if (series.slot[j] == series.slot[i] + lag && series.previous[j] < 0 && coin(rng) > 0) {
        series.next[i] = static_cast<Index>(j), series.previous[j] = static_cast<Index>(i);
        break;
      }
  }
  return series;
}

bool is_in(const std::vector<Index>& points, Index i) {
  return std::find(points.begin(), points.end(), i) != points.end();
}

}  // namespace

TEST_CASE("ages and lives of cells count frames to the ends of tracks and to divisions") {
  std::mt19937_64 rng(5);
  for (int round = 0; round < 60; ++round) {
    const Series series = random_series(rng, 12);
    const detail::CellTracks tracks = series.tracks(round % 2 == 1);
    const auto n = static_cast<Index>(tracks.slot.size());
    detail::CellBreaks breaks;
    for (Index i = 0; i < n; ++i) {
      if (rng() % 6 == 0) breaks.mothers.push_back(i);
      if (rng() % 6 == 0) breaks.daughters.push_back(i);
    }
    const auto ages = detail::cell_ages(tracks, breaks), lives = detail::cell_lives(tracks, breaks);
    const auto time = [&](Index i) {
      const std::int32_t slot = tracks.slot[static_cast<std::size_t>(i)];
      return tracks.backwards ? tracks.frames - 1 - slot : slot;
    };
    for (Index i = 0; i < n; ++i) {
      Index first = i, last = i;
      while (!is_in(breaks.daughters, first) && tracks.before[static_cast<std::size_t>(first)] >= 0)
        first = tracks.before[static_cast<std::size_t>(first)];
      while (!is_in(breaks.mothers, last) && tracks.after[static_cast<std::size_t>(last)] >= 0)
        last = tracks.after[static_cast<std::size_t>(last)];
      const bool born = is_in(breaks.daughters, first) || time(first) > 0;
      const bool ends = is_in(breaks.mothers, last) || time(last) < tracks.frames - 1;
      INFO("round " << round << ", point " << i);
      CHECK(ages[static_cast<std::size_t>(i)] == (born ? time(i) - time(first) + 1 : 0));
      CHECK(lives[static_cast<std::size_t>(i)] == (ends ? time(last) - time(i) + 1 : 0));
    }
  }
}

TEST_CASE("durations have classes that double, odds have eighths") {
  const std::vector<std::pair<int, int>> expected{{0, 0}, {1, 1}, {2, 2}, {3, 3},
                                                  {4, 3}, {5, 4}, {8, 4}, {9, 5}};
  for (const auto& [frames, which] : expected) CHECK(detail::duration_class(frames) == which);
  CHECK(detail::duration_class(2147483647) < static_cast<std::int32_t>(detail::kTraitClasses));

  // Sixteen tracks of one detection with falling odds, and one detection that starts none.
  std::vector<Index> after(17, -1);
  detail::CellTracks tracks;
  tracks.after = after;
  std::vector<Index> starts;
  std::vector<double> odds(17, 0);
  for (Index i = 0; i < 16; ++i) starts.push_back(i), odds[static_cast<std::size_t>(i)] = -i;
  const auto classes = detail::odds_classes(tracks, starts, odds);
  for (std::size_t i = 0; i < 16; ++i) CHECK(classes[i] == static_cast<std::int32_t>(8 - i / 2));
  CHECK(classes[16] == 0);
  CHECK(detail::odds_classes(tracks, starts, {}).empty());
  // The mean of a track counts: a long track of middling odds behind a first detection of high odds.
  after[15] = 16, odds[15] = 100, odds[16] = -200;
  CHECK(detail::odds_classes(tracks, starts, odds)[15] == 1);
}

TEST_CASE("evidence of classes is their log ratio, and little if little is known") {
  std::vector<double> some(detail::kTraitClasses, 0), others = some;
  for (const double nats : detail::class_evidence(some, others)) CHECK(nats == 0);
  some[1] = 1000, some[2] = 3000, others[1] = 6000, others[2] = 2000;
  some[0] = others[0] = 1e6;  // unknown
  const auto nats = detail::class_evidence(some, others);
  CHECK(nats[0] == 0);
  CHECK(nats[1] == Approx(std::log(0.25 / 0.75)).margin(0.05));
  CHECK(nats[2] == Approx(std::log(0.75 / 0.25)).margin(0.05));
  CHECK(nats[3] == 0);
  some.assign(detail::kTraitClasses, 0);
  for (const double none : detail::class_evidence(some, others)) CHECK(none == Approx(0).margin(1e-12));
  some[1] = 1;
  for (const double few : detail::class_evidence(some, others)) CHECK(std::abs(few) < 0.1);
}
