// Fast forms of the series linker (rows of points, lists of neighbours, fits of several places at once),
// compared with simple ones.

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include <catch2/catch.hpp>

#include "tests/tracking/link/walkers.h"
#include "tracking/candidates/row_grid.h"
#include "tracking/link/motion/field.h"
#include "tracking/motion/field_fit.h"
#include "tracking/motion/local_field.h"

using namespace motes;
using namespace motes::tracking;
using testing::uniform_point;

namespace {

std::vector<std::size_t> brute_force(const std::vector<Vec3>& points, const Vec3& centre, double radius) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double dx = points[i].x - centre.x, dy = points[i].y - centre.y, dz = points[i].z - centre.z;
    if (dx * dx + dy * dy + dz * dz <= radius * radius) out.push_back(i);
  }
  return out;
}

/// The field with neighbours from a tree and the nearest detection by brute force.
Prediction plain_field(const SeriesPoints& points, const SeriesLinking& linking, int lags) {
  Prediction out;
  out.by_lag.assign(static_cast<std::size_t>(lags), std::vector<Vec3>(points.size()));
  const auto minus = [](const Vec3& a, const Vec3& b) { return Vec3{a.x - b.x, a.y - b.y, a.z - b.z}; };
  const auto begin_of = [&](int t) {
    return static_cast<std::size_t>(points.offset[static_cast<std::size_t>(t)]);
  };
  for (int t = 0; t + 1 < points.frames(); ++t) {
    const std::size_t begin = begin_of(t);
    std::vector<Vec3> sources, moves;
    std::vector<std::ptrdiff_t> own(points.frame(t).size(), -1);
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto j = linking.next[begin + k];
      if (j < 0 || points.slot[static_cast<std::size_t>(j)] != t + 1) continue;
      own[k] = static_cast<std::ptrdiff_t>(sources.size());
      sources.push_back(points.at[begin + k]);
      moves.push_back(minus(points.at[static_cast<std::size_t>(j)], points.at[begin + k]));
    }
    const auto field = local_field({1}, sources, moves, points.frame(t), own);
    std::copy(field.begin(), field.end(), out.by_lag[0].begin() + static_cast<std::ptrdiff_t>(begin));
  }
  for (int lag = 2; lag <= lags; ++lag)
    for (int t = 0; t + lag < points.frames(); ++t) {
      const auto stop = points.frame(t + lag - 1);
      for (std::size_t i = begin_of(t); i < begin_of(t + 1); ++i) {
        const Vec3 so_far = out.by_lag[static_cast<std::size_t>(lag) - 2][i];
        const Vec3 place{points.at[i].x + so_far.x, points.at[i].y + so_far.y, points.at[i].z + so_far.z};
        const auto nearest = std::min_element(stop.begin(), stop.end(), [&](const Vec3& a, const Vec3& b) {
          return length_of(minus(a, place)) < length_of(minus(b, place));
        });
        const Vec3 step =
            stop.empty()
                ? Vec3{}
                : out.by_lag[0][begin_of(t + lag - 1) + static_cast<std::size_t>(nearest - stop.begin())];
        out.by_lag[static_cast<std::size_t>(lag) - 1][i] = {so_far.x + step.x, so_far.y + step.y,
                                                            so_far.z + step.z};
      }
    }
  return out;
}

}  // namespace

TEST_CASE("a grid of rows finds all points within any radius") {
  std::mt19937_64 rng(3);
  for (const double width : {0.05, 0.7, 3.0, 1e9, 0.0}) {
    std::vector<Vec3> points;
    for (int k = 0; k < 400; ++k) points.push_back(uniform_point(rng, 7));
    for (int k = 0; k < 40; ++k) points.push_back({points[1].x, points[1].y, 2});
    points.push_back({-4e6, 3, 3});
    points.push_back({3, 1e17, -1e17});
    points.push_back({3, 1e17, -1e17});
    const RowGrid grid(points, width);
    for (int trial = 0; trial < 60; ++trial) {
      const Vec3 centre = trial % 4 == 0 ? points[rng() % points.size()] : uniform_point(rng, 9);
      for (const double radius : {0.0, 0.3, 1.1, 50.0, 1e20}) {
        std::vector<std::size_t> found;
        grid.for_each_within(centre, radius, [&](std::size_t number, double) { found.push_back(number); });
        std::sort(found.begin(), found.end());
        INFO("rows " << width << " wide, radius " << radius);
        REQUIRE(found == brute_force(points, centre, radius));
      }
    }
  }
  int none = 0;
  RowGrid({}, 1).for_each_within({}, 1, [&](std::size_t, double) { ++none; });
  CHECK(none == 0);
}

TEST_CASE("a search with a shrinking radius skips farther points") {
  std::mt19937_64 rng(4);
  for (const double width : {0.05, 0.7, 3.0}) {
    std::vector<Vec3> points;
    for (int k = 0; k < 2000; ++k) points.push_back(uniform_point(rng, 7));
    const RowGrid grid(points, width);
    std::size_t looks = 0;
    for (int trial = 0; trial < 60; ++trial) {
      const Vec3 centre = trial % 4 == 0 ? points[rng() % points.size()] : uniform_point(rng, 9);
      std::size_t nearest = points.size();
      double least = 50;
      RowGrid::Found found;
      grid.find_within(centre, least, found, [&](RowGrid::Found& some) {
        looks += some.count;
        const auto least_of = std::min_element(
            some.squared.begin(), some.squared.begin() + static_cast<std::ptrdiff_t>(some.count));
        nearest =
            static_cast<std::size_t>(some.number[static_cast<std::size_t>(least_of - some.squared.begin())]);
        least = std::min(least, std::sqrt(*least_of));
        some.count = 0;
        return least;
      });
      INFO("rows " << width << " wide");
      REQUIRE(nearest < points.size());
      REQUIRE(brute_force(points, centre, least * (1 + 1e-12)) == std::vector<std::size_t>{nearest});
    }
    CHECK(looks < 60 * 200);
  }
}

TEST_CASE("a field by lists of neighbours is the same as by a tree") {
  std::mt19937_64 rng(5);
  std::normal_distribution<> normal;
  for (const int n : {3, 7, 12, 31, 33, 700})
    for (const double known : {1.0, 0.8, 0.1}) {
      std::vector<Vec3> points, sources, moves;
      PointMoves of_points;
      std::vector<std::ptrdiff_t> own;
      for (int k = 0; k < n; ++k) {
        points.push_back(uniform_point(rng, 5));
        const bool has = std::uniform_real_distribution<>()(rng) < known;
        of_points.move.push_back({0.1 * normal(rng), 0.1 * normal(rng) + 0.3, 0.1 * normal(rng)});
        of_points.known.push_back(has);
        own.push_back(has ? static_cast<std::ptrdiff_t>(sources.size()) : -1);
        if (!has) continue;
        sources.push_back(points.back());
        moves.push_back(of_points.move.back());
        ++of_points.count;
      }
      INFO(n << " points, " << of_points.count << " of them moved");
      const NearLists lists(points);
      CHECK(local_field_among({2}, points, lists, of_points, false) ==
            local_field({1}, sources, moves, points, own));
      CHECK(local_field_among({1}, points, lists, of_points, true) ==
            local_field({2}, sources, moves, points));
    }
}

TEST_CASE("other lanes do not change the fit at a place") {
  std::mt19937_64 rng(6);
  for (std::size_t count = 0; count <= kFieldNeighbours; ++count) {
    FieldBatch together, alone;
    const std::size_t lane = count % kFieldLanes;
    for (std::size_t l = 0; l < kFieldLanes; ++l)
      for (std::size_t k = 0; k < (l == lane ? count : kFieldNeighbours - l); ++k) {
        const Vec3 offset = uniform_point(rng, 2), move = uniform_point(rng, 1);
        together.add(l, offset, move);
        if (l == lane) alone.add(0, offset, move);
      }
    CHECK(fit_fields(together)[lane] == fit_fields(alone)[0]);
  }
}

TEST_CASE("predictions with lists are the same as without") {
  std::mt19937_64 rng(8);
  std::vector<Detections> frames(6);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    frames[t].frame = static_cast<std::int32_t>(t);
    for (int k = 0; k < (t == 3 ? 2 : 150); ++k) {
      const Vec3 p = uniform_point(rng, 5);
      frames[t].x_um.push_back(p.x), frames[t].y_um.push_back(p.y), frames[t].z_um.push_back(p.z);
    }
  }
  const SeriesPoints points = pool_points(frames);
  SeriesLinking linking = SeriesLinking::none(points.size());
  for (const auto& [from, to, most] : {std::tuple{0, 1, 140}, {1, 2, 120}, {2, 4, 90}, {4, 5, 150}})
    for (int k = 0; k < most; ++k) {
      const auto i = points.offset[static_cast<std::size_t>(from)] + k;
      const auto j = points.offset[static_cast<std::size_t>(to)] + k;
      linking.next[static_cast<std::size_t>(i)] = j, linking.previous[static_cast<std::size_t>(j)] = i;
    }
  const SeriesLists lists(points);
  const Prediction found = predict_by_field({2}, points, lists, linking, 4);
  CHECK(found.by_lag == predict_by_field({1}, points, SeriesLists(points), linking, 4).by_lag);
  CHECK(found.by_lag == plain_field(points, linking, 4).by_lag);
}
