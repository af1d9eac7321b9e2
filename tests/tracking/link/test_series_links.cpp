// Linking of series: the assignment compared with brute force, and rounds, models and gaps on series with
// known links.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/linker.h>
#include <motes/tracking/radial_density.h>
#include <motes/tracking/series_joint.h>
#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/motion/field.h"
#include "tracking/link/series/gap_shares.h"
#include "tracking/motion/local_field.h"
#include "tracking/motion/rigid_search.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;
using testing::add;
using testing::direction;
using testing::uniform_point;

namespace {

using Series = std::vector<Detections>;

/// Walkers at unit density with steps of 0.5 to 1.5 times `step`; `persistence`: share of the last direction
/// in the next step. Detection k of every frame is walker k.
Series walkers(int n, int frames, double step, double persistence, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const double side = std::cbrt(n);
  std::vector<Vec3> x, u;
  for (int k = 0; k < n; ++k) x.push_back(uniform_point(rng, side)), u.push_back(direction(rng));
  Series out(static_cast<std::size_t>(frames));
  for (int t = 0; t < frames; ++t) {
    out[static_cast<std::size_t>(t)].frame = t;
    for (int k = 0; k < n; ++k) {
      auto& p = x[static_cast<std::size_t>(k)];
      auto& v = u[static_cast<std::size_t>(k)];
      add(out[static_cast<std::size_t>(t)], p);
      const Vec3 r = direction(rng);
      v = {persistence * v.x + (1 - persistence) * r.x, persistence * v.y + (1 - persistence) * r.y,
           persistence * v.z + (1 - persistence) * r.z};
      const double length = std::hypot(v.x, v.y, v.z);
      v = {v.x / length, v.y / length, v.z / length};
      const double way = step * std::uniform_real_distribution<>(0.5, 1.5)(rng);
      const auto move = [&](double& at, double& along) {
        at += way * along;
        if (at < 0 || at > side) at = at < 0 ? -at : 2 * side - at, along = -along;
      };
      move(p.x, v.x), move(p.y, v.y), move(p.z, v.z);
    }
  }
  return out;
}

/// Share of detections k whose link goes to detection k of the next frame.
double share_right(const SeriesLinks& links) {
  double right = 0, all = 0;
  for (std::int32_t t = 0; t + 1 < links.points.frames(); ++t)
    for (Index k = 0; k < links.points.offset[t + 1] - links.points.offset[t]; ++k)
      all += 1, right += links.linking.next[links.points.offset[t] + k] == links.points.offset[t + 1] + k;
  return right / all;
}

SeriesLinks linked(const Series& frames, MotionModel model, int max_gap = 3, int threads = 2) {
  SeriesOptions options;
  options.model = model;
  options.max_gap = max_gap;
  options.verify = true;
  return link_series({threads}, frames, options);
}

/// The least cost of all linkings: every detection is false, or free or linked on each side.
double least_cost(const SeriesPoints& points, const SeriesModel& model, const SeriesCandidates& candidates,
                  const std::vector<double>& costs) {
  const auto n = points.size();
  const int last = points.frames() - 1;
  double best = std::numeric_limits<double>::infinity();
  std::vector<bool> taken(n, false);
  const std::function<void(std::size_t, double)> row = [&](std::size_t i, double cost) {
    if (i == n) {
      for (std::size_t j = 0; j < n; ++j)
        if (!taken[j]) cost += model.birth_cost(points.density[points.slot[j]], points.slot[j]);
      best = std::min(best, cost);
      return;
    }
    row(i + 1, cost + model.end_cost(last - points.slot[i]));
    const auto take = [&](std::size_t j, double c) {
      if (taken[j]) return;
      taken[j] = true;
      row(i + 1, cost + c);
      taken[j] = false;
    };
    const std::int32_t t = points.slot[i];
    const double false_one = model.clutter_cost(points.density[t]);
    const double track = model.end_cost(last - t) + model.birth_cost(points.density[t], t);
    take(i, few_frames(points.frames(), model.lags()) ? -std::log(std::exp(-false_one) + std::exp(-track))
                                                      : false_one);
    for (auto e = candidates.row_offsets[i]; e < candidates.row_offsets[i + 1]; ++e)
      take(static_cast<std::size_t>(candidates.to[e]), costs[e]);
  };
  row(0, 0);
  return best;
}

}  // namespace

TEST_CASE("the assignment of a series has the cost of the best of all linkings") {
  std::mt19937_64 rng(3);
  for (int trial = 0; trial < 40; ++trial) {
    const int lags = trial < 20 ? 3 : 1;
    Series frames(lags > 1 ? 4 : 5);
    for (std::size_t t = 0; t < frames.size(); ++t) {
      frames[t].frame = static_cast<std::int32_t>(t);
      const auto count = std::uniform_int_distribution<int>(t == 2 && trial % 3 == 0 ? 0 : 1, 2)(rng);
      for (int k = 0; k < count; ++k) add(frames[t], uniform_point(rng, 1.5));
    }
    const SeriesPoints points = pool_points(frames);
    SeriesModel model = first_model(points, {}, lags);
    if (lags > 1) model.elapsed = {0.6, 0.3, 0.1};
    model.end = 0.1, model.birth = 0.2, model.clutter = trial % 2 == 0 ? 0.3 : 0.01;
    model.scale.assign(frames.size(), 0.4);
    const SeriesCandidates candidates = series_candidates({1}, points, {}, model, lags);
    std::vector<double> costs = candidate_costs({1}, points, {}, model, candidates);
    for (double& cost : costs) cost += std::normal_distribution<>(0, 1)(rng);
    const SeriesSolution solved = solve_series({1}, points, model, candidates, costs, "auto", true);
    INFO("trial " << trial << ", " << points.size() << " detections, " << candidates.size() << " candidates");
    CHECK(solved.verified);
    CHECK(solved.objective == Approx(least_cost(points, model, candidates, costs)).margin(0.01));
  }
}

TEST_CASE("likely candidates are the cheapest of each row and the kept link") {
  Series frames = walkers(60, 5, 0.3, 0.5, 4);
  // In a crowd far more detections than are kept are near each other.
  const bool crowd = GENERATE(false, true);
  for (Detections& frame : frames)
    for (std::size_t k = 0; crowd && k < frame.size(); ++k)
      if (k % 3 != 0) frame.x_um[k] *= 0.02, frame.y_um[k] *= 0.02, frame.z_um[k] *= 0.02;
  const SeriesPoints points = pool_points(frames);
  SeriesModel model = first_model(points, {}, 2);
  // With a small scale many detections have no cheap link.
  const double factor = GENERATE(1.0, 0.1);
  for (double& scale : model.scale) scale *= factor;
  const SeriesCandidates all = series_candidates({1}, points, {}, model, 2);
  const std::vector<double> costs = candidate_costs({1}, points, {}, model, all);
  SeriesLinking keep = SeriesLinking::none(points.size());
  REQUIRE(all.size() > 0);
  const auto first = static_cast<std::size_t>(all.from.front());
  keep.next[first] = all.to[static_cast<std::size_t>(all.row_offsets[first + 1]) - 1];
  for (const auto& [nats, most] : {std::pair{1e9, std::size_t{1000}},
                                   {2.0, std::size_t{1000}},
                                   {1e9, std::size_t{3}},
                                   {4.0, std::size_t{6}}}) {
    const SeriesCandidates likely = likely_candidates({2}, points, {}, model, 2, keep, nats, most);
    CHECK(likely.to == prune_candidates(all, costs, keep, nats, most).to);
    CHECK(likely.row_offsets == prune_candidates(all, costs, keep, nats, most).row_offsets);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto begin = static_cast<std::size_t>(all.row_offsets[i]);
      const auto end = static_cast<std::size_t>(all.row_offsets[i + 1]);
      std::vector<std::pair<double, std::int64_t>> row;
      for (std::size_t e = begin; e < end; ++e) row.emplace_back(costs[e], all.to[e]);
      std::sort(row.begin(), row.end());
      std::vector<std::int64_t> expected;
      for (std::size_t k = 0; k < row.size(); ++k)
        if ((k < most && row[k].first <= row[0].first + nats) || row[k].second == keep.next[i])
          expected.push_back(row[k].second);
      std::sort(expected.begin(), expected.end());
      std::vector<std::int64_t> found(
          likely.to.begin() + static_cast<std::ptrdiff_t>(likely.row_offsets[i]),
          likely.to.begin() + static_cast<std::ptrdiff_t>(likely.row_offsets[i + 1]));
      std::sort(found.begin(), found.end());
      REQUIRE(found == expected);
    }
  }
  CHECK(likely_candidates({1}, points, {}, model, 2, keep, 2.0, 1000).size() < all.size());
}

TEST_CASE("detections far from all others do not change the spacing") {
  Series frames = walkers(200, 4, 0.1, 0.5, 3);
  const double spacing = pool_points(frames).spacing_um;
  for (Detections& frame : frames) frame.x_um[0] = frame.y_um[0] = frame.z_um[0] = 1e9;
  CHECK(pool_points(frames).spacing_um == Approx(spacing).epsilon(0.02));
}

TEST_CASE("a particle missed for up to max_gap frames keeps its track") {
  Series frames = walkers(60, 12, 0.05, 0.9, 5);
  for (const std::size_t t : {4, 5, 6}) {
    Detections& d = frames[t];
    d.x_um.erase(d.x_um.begin()), d.y_um.erase(d.y_um.begin()), d.z_um.erase(d.z_um.begin());
  }
  const auto first_after = [&](int max_gap) {
    const SeriesLinks links = linked(frames, MotionModel::automatic, max_gap);
    return links.linking.next[links.points.offset[3]] == links.points.offset[7];
  };
  CHECK(first_after(3));
  CHECK(!first_after(2));
  const SeriesLinks links = linked(frames, MotionModel::automatic, 3);
  CHECK(links.gap_links == 1);
  const TrackSet tracks = build_tracks(frames, links);
  CHECK(tracks.tracks() == 60);
  CHECK(tracks.track_offsets[1] == 9);
  CHECK(tracks.frame[4] == 7);
}

TEST_CASE("an empty frame does not cut the tracks") {
  Series frames = walkers(100, 9, 0.1, 0.5, 6);
  frames[4] = Detections{};
  frames[4].frame = 4;
  CHECK(build_tracks(frames, linked(frames, MotionModel::automatic)).tracks() == 100);
}

TEST_CASE("the data choose the motion model") {
  const SeriesLinks random = linked(walkers(400, 10, 0.5, 0, 1), MotionModel::automatic);
  CHECK(random.chosen == MotionModel::standing);
  CHECK(random.reason.find("do not keep their direction") != std::string::npos);

  const Series straight = walkers(400, 10, 0.5, 0.9, 1);
  const SeriesLinks persistent = linked(straight, MotionModel::automatic);
  CHECK(persistent.persistent);
  CHECK((persistent.chosen == MotionModel::velocity || persistent.chosen == MotionModel::joint));
  CHECK(persistent.velocity.beta() > 0.7);
  CHECK(share_right(persistent) > share_right(linked(straight, MotionModel::standing)) + 0.1);

  // A cloud that rotates as a body, by up to 1.5 spacings per frame at its edge.
  Series turning(8);
  std::mt19937_64 rng(2);
  std::vector<Vec3> cloud;
  for (int k = 0; k < 300; ++k) cloud.push_back(uniform_point(rng, std::cbrt(300)));
  const double angle = 0.3, centre = std::cbrt(300) / 2;
  std::normal_distribution<> noise(0, 0.03);
  for (std::size_t t = 0; t < turning.size(); ++t) {
    turning[t].frame = static_cast<std::int32_t>(t);
    const double c = std::cos(angle * static_cast<double>(t)), s = std::sin(angle * static_cast<double>(t));
    for (const Vec3& p : cloud) {
      const double x = p.x - centre, y = p.y - centre;
      add(turning[t], {c * x - s * y + noise(rng), s * x + c * y + noise(rng), p.z + noise(rng)});
    }
  }
  const SeriesLinks body = linked(turning, MotionModel::automatic);
  CHECK(body.chosen == MotionModel::field);
  CHECK(share_right(body) > 0.995);
  // Without prediction, most particles are distinguished only by z, along which they do not move.
  const SeriesLinks still = linked(turning, MotionModel::standing);
  CHECK(still.axes.z > 3 * still.axes.x);
  CHECK(share_right(body) > share_right(still) + 0.005);
}

TEST_CASE("in two frames, replaced particles are not linked") {
  constexpr std::size_t kAll = 1000;
  std::mt19937_64 rng(6);
  std::normal_distribution<> step(0, 0.115);
  Series frames(2);
  frames[1].frame = 1;
  std::vector<char> stays(kAll, 1);
  for (std::size_t k = 0; k < kAll; ++k) {
    const Vec3 p = uniform_point(rng, 10);
    add(frames[0], p);
    stays[k] = std::uniform_real_distribution<>(0, 1)(rng) > 0.15;
    add(frames[1],
        stays[k] != 0 ? Vec3{p.x + step(rng), p.y + step(rng), p.z + step(rng)} : uniform_point(rng, 10));
  }
  const SeriesLinks links = linked(frames, MotionModel::automatic);
  double right = 0, wrong = 0;
  for (std::size_t k = 0; k < kAll; ++k)
    if (const Index j = links.linking.next[k]; j >= 0)
      ++(stays[k] != 0 && j == static_cast<Index>(kAll + k) ? right : wrong);
  const auto staying = static_cast<double>(std::count(stays.begin(), stays.end(), 1));
  INFO("right " << right << ", wrong " << wrong << ", of " << staying);
  CHECK(2 * right / (right + wrong + staying) > 0.962);
}

TEST_CASE("links of a series are the same for any thread count and any order of the detections") {
  const Series frames = walkers(300, 8, 0.5, 0.7, 9);
  const SeriesLinks one = linked(frames, MotionModel::automatic, 3, 1);
  CHECK(linked(frames, MotionModel::automatic, 3, 3).linking.next == one.linking.next);
  Series turned = frames;
  for (Detections& d : turned)
    for (auto* axis : {&d.x_um, &d.y_um, &d.z_um}) std::reverse(axis->begin(), axis->end());
  CHECK(share_right(linked(turned, MotionModel::automatic)) == Approx(share_right(one)).margin(0.002));
}

TEST_CASE("a given gate bounds every displacement, times elapsed frames") {
  const Series frames = walkers(200, 8, 0.5, 0, 4);
  SeriesOptions options;
  options.gate = 0.45;
  const SeriesLinks links = link_series({1}, frames, options);
  for (std::size_t i = 0; i < links.points.size(); ++i) {
    const Index j = links.linking.next[i];
    if (j < 0) continue;
    const int lag = links.points.slot[j] - links.points.slot[i];
    CHECK(length_of(residual(links.points, {}, static_cast<Index>(i), j)) <= 0.45 * lag);
  }
}

TEST_CASE("detections on no track are distinguished from tracks") {
  Series frames = walkers(200, 10, 0.1, 0.5, 8);
  std::mt19937_64 rng(1);
  for (Detections& d : frames)
    for (int k = 0; k < 40; ++k) add(d, uniform_point(rng, std::cbrt(200)));
  const SeriesLinks links = linked(frames, MotionModel::automatic);
  CHECK(share_right(links) > 0.8);  // 200 of 240 detections per frame are particles
  CHECK(links.model.clutter == Approx(40.0 / 240).margin(0.04));
}

TEST_CASE("very small and empty series are accepted") {
  CHECK(linked({}, MotionModel::automatic).links == 0);
  CHECK(linked(Series(1), MotionModel::automatic).links == 0);
  CHECK(linked(Series(3), MotionModel::automatic).links == 0);
  Series two(2);
  add(two[0], {1, 1, 1});
  add(two[1], {1.1, 1, 1});
  CHECK(linked(two, MotionModel::automatic).links == 1);
  Series repeated(4);
  for (Detections& d : repeated)
    for (int k = 0; k < 30; ++k) add(d, {1, 1, 1});
  CHECK(linked(repeated, MotionModel::automatic).links == 90);
  SeriesOptions bad;
  bad.max_gap = -1;
  CHECK_THROWS_AS(link_series({1}, two, bad), UsageError);
  bad = {};
  bad.solver = "jvv";
  CHECK_THROWS_AS(link_series({1}, two, bad), UsageError);
  two[0].x_um[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(link_series({1}, two, {}), InputError);
}

TEST_CASE("a single particle is linked even if it hardly moves along some axes") {
  for (const double across : {0.1, 0.01, 0.001})
    for (const int count : {4, 10, 30}) {
      CAPTURE(across, count);
      std::mt19937_64 rng(static_cast<std::uint64_t>(count));
      std::normal_distribution<> normal;
      Series walk(static_cast<std::size_t>(count)), drift = walk;
      Vec3 p{5, 5, 5};
      for (std::size_t t = 0; t < walk.size(); ++t) {
        add(walk[t], p += Vec3{0.1 * normal(rng), across * normal(rng), across * normal(rng)});
        add(drift[t],
            {0.1 * static_cast<double>(t) + 0.01 * normal(rng), across * normal(rng), across * normal(rng)});
      }
      CHECK(link_series({1}, walk, {}).links >= count - 1);
      CHECK(link_series({1}, drift, {}).links >= count - 1);
    }
}

TEST_CASE("a series has the same links in any unit, or is rejected") {
  std::mt19937_64 rng(5);
  Series frames(5);
  for (int k = 0; k < 15; ++k) {
    Vec3 p = uniform_point(rng, 10);
    for (Detections& d : frames) add(d, p += 0.1 * direction(rng));
  }
  const auto times = [&](double unit) {
    Series out = frames;
    for (Detections& d : out)
      for (auto* const axis : {&d.x_um, &d.y_um, &d.z_um})
        for (double& x : *axis) x *= unit;
    return link_series({1}, out, {});
  };
  CHECK(share_right(times(1)) == 1);
  for (const int power : {-60, 60}) CHECK(share_right(times(std::ldexp(1.0, power))) == 1);
  for (const int power : {-200, -100, 100, 200}) CHECK_THROWS_AS(times(std::ldexp(1.0, power)), InputError);
}

TEST_CASE("a series of few detections in half a million frames is linked quickly") {
  Series frames(500'000);
  for (const std::size_t t : {std::size_t{0}, std::size_t{1}, std::size_t{2}, frames.size() - 1})
    add(frames[t], {1, 1, 1});
  const auto start = std::chrono::steady_clock::now();
  CHECK(link_series({1}, frames, {}).links == 2);
  CHECK(std::chrono::steady_clock::now() - start <
        std::chrono::minutes(1));  // quadratic time would be over five minutes
}

TEST_CASE(
    "a field follows affine motion, ignores a wrong link, and does not use a point's own displacement") {
  std::mt19937_64 rng(7);
  std::vector<Vec3> at, move;
  std::vector<std::ptrdiff_t> own;
  for (int k = 0; k < 500; ++k) {
    const Vec3 p = uniform_point(rng, 8);
    at.push_back(p);
    own.push_back(k);
    move.push_back({0.5 + 0.02 * p.y, -0.02 * p.x, 0.1});
  }
  auto field = local_field({1}, at, move, at, own);
  for (std::size_t k = 0; k < at.size(); ++k)
    CHECK(length_of({field[k].x - move[k].x, field[k].y - move[k].y, field[k].z - move[k].z}) < 0.05);
  const Vec3 before = field[17];
  move[17] = {9, 9, 9};
  const auto wrong = local_field({2}, at, move, at, own);
  CHECK(wrong[17] == before);
  for (std::size_t k = 0; k < at.size(); ++k)
    if (k != 17)
      CHECK(length_of({wrong[k].x - field[k].x, wrong[k].y - field[k].y, wrong[k].z - field[k].z}) < 0.05);
  CHECK(local_field({1}, std::span(at).first(3), std::span(move).first(3), at)[0] == Vec3{});
}

TEST_CASE("a field updated in few frames is that of the whole linking") {
  const SeriesPoints points = pool_points(walkers(80, 7, 0.1, 0.5, 12));
  SeriesLinking linking = SeriesLinking::none(points.size()), other;
  for (Index i = 0; i + 80 < static_cast<Index>(points.size()); ++i)
    linking.next[i] = i + 80, linking.previous[i + 80] = i;
  other = linking;
  for (const Index i : {3, 2 * 80 + 5, 2 * 80 + 6}) other.next[i] = -1, other.previous[i + 80] = -1;
  const Prediction before = predict_by_field({1}, points, SeriesLists(points), linking, 3);
  const Prediction whole = predict_by_field({1}, points, SeriesLists(points), other, 3);
  const Prediction renewed = predict_by_field({2}, points, SeriesLists(points), other, 3, before, linking);
  CHECK(renewed.by_lag == whole.by_lag);
  CHECK(renewed.by_lag != before.by_lag);
  CHECK(predict_by_field({2}, points, SeriesLists(points), other, 2, before, linking).by_lag ==
        predict_by_field({1}, points, SeriesLists(points), other, 2).by_lag);
}

TEST_CASE("the rotation of a body is found, and a series of such rotations is linked") {
  std::mt19937_64 rng(13);
  const double c = std::cos(0.61), s = std::sin(0.61);
  std::vector<Vec3> cloud;
  for (int k = 0; k < 300; ++k) {
    const Vec3 p = uniform_point(rng, 1);
    cloud.push_back({12 * (p.x - 0.5), 8 * (p.y - 0.5), 4 * (p.z - 0.5)});
  }
  Series frames(6);
  std::normal_distribution<> noise(0, 0.02);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    frames[t].frame = static_cast<std::int32_t>(t);
    for (const Vec3& p : cloud) add(frames[t], {p.x + noise(rng), p.y + noise(rng), p.z + noise(rng)});
    for (Vec3& p : cloud) p = {c * p.x - s * p.y + 0.3, s * p.x + c * p.y, p.z};
  }
  const SeriesPoints points = pool_points(frames);
  const auto moves = rigid_moves(points.frame(0), points.frame(1), points.spacing_um);
  REQUIRE(moves.size() == 300);
  double most = 0;
  for (std::size_t k = 0; k < 300; ++k) {
    const Vec3 &a = points.frame(0)[k], &b = points.frame(1)[k];
    most =
        std::max(most, length_of({b.x - a.x - moves[k].x, b.y - a.y - moves[k].y, b.z - a.z - moves[k].z}));
  }
  CHECK(most < 0.5);
  // The same far from the origin, where no cells are made.
  std::vector<Vec3> from, to;
  for (const Vec3& p : points.frame(0)) from.push_back(p + Vec3{1e7, 0, 0});
  for (const Vec3& p : points.frame(1)) to.push_back(p + Vec3{1e7, 0, 0});
  const auto there = rigid_moves(from, to, points.spacing_um);
  for (std::size_t k = 0; k < 300; ++k) CHECK(length_of(there[k] - moves[k]) < 1e-5);
  CHECK(rigid_moves(points.frame(0).first(19), points.frame(1), 1).empty());
  CHECK(share_right(linked(frames, MotionModel::field)) > 0.95);
}

TEST_CASE("radial densities integrate to 1") {
  std::mt19937_64 rng(1);
  for (const int dims : {1, 2, 3}) {
    std::vector<double> lengths;
    for (int k = 0; k < 5000; ++k) lengths.push_back(std::uniform_real_distribution<>(0.5, 1.5)(rng));
    for (const RadialDensity& density : {RadialDensity(dims), RadialDensity(lengths, dims, 2)}) {
      double sum = 0;
      const double h = 1e-3;
      for (double u = h / 2; u < 60; u += h)
        sum +=
            std::exp(density.log_density(u)) * (ball_volume(dims, u + h / 2) - ball_volume(dims, u - h / 2));
      CHECK(sum == Approx(1).margin(0.05));
    }
    CHECK(RadialDensity(lengths, dims, 2).log_density(1) >
          RadialDensity(lengths, dims, 2).log_density(0.2) + 2);
  }
}
