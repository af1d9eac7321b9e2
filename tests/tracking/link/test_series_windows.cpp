// A series linked in windows: its gap, compared with the whole series as one assignment.

#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tracking/link/large/windows.h"

using namespace motes;
using namespace motes::tracking;

namespace {

struct Family {
  int particles, frames, dims;
  double step;  ///< in spacings
  double missed, clutter;
  int empty_frame;  ///< -1 none
};

std::vector<Detections> series_of(const Family& family, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<> normal(0, family.step / std::sqrt(family.dims));
  const double side = std::pow(family.particles, 1.0 / family.dims);
  std::uniform_real_distribution<> place(0, side), chance;
  const auto somewhere = [&] {
    const double x = place(rng), y = place(rng), z = family.dims == 3 ? place(rng) : 0;
    return Vec3{x, y, z};
  };
  std::vector<Vec3> at;
  for (int k = 0; k < family.particles; ++k) at.push_back(somewhere());
  std::vector<Detections> out(static_cast<std::size_t>(family.frames));
  for (int t = 0; t < family.frames; ++t) {
    Detections& d = out[static_cast<std::size_t>(t)];
    d.frame = t;
    const auto add = [&](const Vec3& p) {
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
    };
    for (Vec3& p : at) {
      p.x += normal(rng), p.y += normal(rng);
      if (family.dims == 3) p.z += normal(rng);
      if (t != family.empty_frame && chance(rng) >= family.missed) add(p);
    }
    for (int k = 0; k < family.particles; ++k)
      if (t != family.empty_frame && chance(rng) < family.clutter) add(somewhere());
  }
  return out;
}

}  // namespace

TEST_CASE("windows of a series never claim a bound that the complete series breaks") {
  constexpr int kLags = 3;
  int proven = 0, all = 0;  // for particles that hardly move
  for (const Family& family : {Family{40, 40, 3, 0.1, 0, 0, -1},
                               {40, 40, 3, 0.3, 0.1, 0.1, -1},
                               {40, 40, 2, 0.6, 0.1, 0.2, 17},
                               {40, 40, 3, 1.0, 0.2, 0.3, -1},
                               {12, 90, 2, 0.4, 0.3, 0, 40},
                               {3, 30, 3, 0.5, 0.3, 1, -1}})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const SeriesPoints points = pool_points(series_of(family, seed));
      SeriesModel model = first_model(points, {}, kLags);
      SeriesLinking keep;
      for (int round = 0; round < 2; ++round) {
        const SeriesCandidates candidates = likely_candidates({1}, points, {}, model, kLags, keep, 12, 20);
        const std::vector<double> costs = candidate_costs({1}, points, {}, model, candidates);
        const SeriesSolution whole = solve_series({1}, points, model, candidates, costs, "auto", true);
        const auto a_frame = static_cast<std::int64_t>(points.size()) / points.frames();
        for (const std::int64_t frames_at_once : {1000, 1, 5, 9, 14, 21}) {
          const WindowedSolution part = solve_windows(
              {2}, points, {}, model, keep, {frames_at_once * a_frame, kLags, 12, 20, "auto", true});
          INFO(family.particles << " particles, step " << family.step << ", seed " << seed << ", "
                                << frames_at_once << " frames at once, " << part.windows << " windows, gap "
                                << part.gap);
          CHECK((part.windows > 1) == (frames_at_once < 1000));
          CHECK(part.gap >= 0);
          CHECK(part.solution.objective >= whole.objective - 1e-6);
          CHECK(part.solution.objective - part.gap <= whole.objective + 1e-6);
          if (part.gap == 0) CHECK(part.solution.linking.next == whole.linking.next);
          if (part.windows == 1) CHECK(part.gap == 0);
          if (family.step == 0.1 && part.windows > 1) ++all, proven += part.gap == 0;
          // The cost of the links by windows is nearly the same.
          if (frames_at_once >= 14)
            CHECK(part.solution.objective - whole.objective < 5e-3 * static_cast<double>(points.size()));
        }
        keep = whole.linking;
        model = fit_model(points, {}, keep, model);
      }
    }
  INFO(proven << " of " << all << " series proven");
  CHECK(10 * proven >= 9 * all);
}

TEST_CASE(
    "a series beyond the size of one assignment is linked in windows, and is the same for any threads") {
  const std::vector<Detections> frames = series_of({60, 40, 3, 0.3, 0.1, 0.05, 12}, 5);
  SeriesOptions options;
  options.model = MotionModel::standing;
  const SeriesLinks whole = link_series({2}, frames, options);
  CHECK(whole.windows == 1);
  options.most_at_once = 900;
  options.verify = true;
  const SeriesLinks one = link_series({1}, frames, options), two = link_series({2}, frames, options);
  CHECK(one.windows > 2);
  CHECK(one.verified);
  CHECK(one.linking.next == two.linking.next);
  CHECK(one.gap_nats == two.gap_nats);
  std::size_t differ = 0;
  for (std::size_t i = 0; i < one.linking.next.size(); ++i)
    differ += one.linking.next[i] != whole.linking.next[i];
  CHECK(static_cast<double>(differ) < 0.05 * static_cast<double>(whole.links));
  CHECK(one.links > whole.links * 19 / 20);
}
