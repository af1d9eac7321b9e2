// Large series, whose motion model and parameters are chosen on a part in the middle.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/large/sample.h"
#include "tracking/link/point_order.h"

using namespace motes;
using namespace motes::tracking;
using motes::testing::keen_walkers;
using motes::testing::share_wrong;
using motes::testing::Walkers;

namespace {

constexpr int kParticles = 1600, kFrames = 8, kAll = kParticles * kFrames;
/// The model is chosen on 4,000 of the 12,800 detections.
constexpr std::int64_t kChosenOn = 4000;
constexpr std::int64_t kMost = 10'000;

/// A body that rotates about its middle, and shakes.
Walkers turning_body(std::uint64_t seed) {
  const double middle = std::cbrt(kParticles) / 2;
  return motes::testing::walkers_moved(kParticles, kFrames, seed, [middle](std::mt19937_64& rng) {
    return [&rng, middle](Vec3& p) {
      std::normal_distribution<> shake(0, 0.03);
      const double x = p.x - middle, y = p.y - middle, turn = 0.12;
      p.x = middle + x * std::cos(turn) - y * std::sin(turn) + shake(rng);
      p.y = middle + x * std::sin(turn) + y * std::cos(turn) + shake(rng);
      p.z += shake(rng);
    };
  });
}

Walkers shaken(double step, std::uint64_t seed) {
  return motes::testing::walkers_moved(kParticles, kFrames, seed, [step](std::mt19937_64& rng) {
    return [&rng, step](Vec3& p) {
      std::normal_distribution<> shake(0, step);
      p = {p.x + shake(rng), p.y + shake(rng), p.z + shake(rng)};
    };
  });
}

SeriesLinks linked(const Walkers& series, std::int64_t most_to_choose,
                   MotionModel model = MotionModel::automatic, int threads = 2) {
  SeriesOptions options;
  options.model = model;
  options.most_to_choose = most_to_choose;
  options.verify = true;
  return link_series({threads}, series.frames, options);
}

}  // namespace

TEST_CASE("a part in the middle is a cube around the median, and its inside") {
  const Walkers series = shaken(0.05, 3);
  const SeriesPoints points = pool_points(series.frames);
  const auto part = middle_part({2}, points, kMost);
  REQUIRE(part);
  CHECK(part->points.size() == kChosenOn);
  CHECK(part->points.density == points.density);
  CHECK(part->points.spacing_um == points.spacing_um);
  REQUIRE(part->inner.size() == part->points.size());
  const double middle = std::cbrt(kParticles) / 2,
               half = middle * std::cbrt(static_cast<double>(kChosenOn) / kAll);
  double farthest = 0, farthest_inner = 0;
  for (std::size_t k = 0; k < part->points.size(); ++k) {
    const Vec3& p = part->points.at[k];
    const double off = std::max({std::abs(p.x - middle), std::abs(p.y - middle), std::abs(p.z - middle)});
    farthest = std::max(farthest, off);
    if (part->inner[k] != 0) farthest_inner = std::max(farthest_inner, off);
  }
  CHECK(farthest == Approx(half).epsilon(0.12));
  CHECK(farthest_inner == Approx(0.75 * half).epsilon(0.12));

  CHECK_FALSE(middle_part({2}, points, std::ssize(points.at)));
  // With few detections per frame the part would not be small.
  const Walkers sparse =
      motes::testing::walkers_moved(100, 200, 6, [](std::mt19937_64&) { return [](Vec3&) {}; });
  CHECK_FALSE(middle_part({2}, pool_points(sparse.frames), kMost));
}

TEST_CASE("the order of cells has each detection once, frame by frame, near ones together") {
  const Walkers series = shaken(0.3, 8);
  const SeriesPoints points = pool_points(series.frames);
  const std::vector<matching::Index> by_hash = detail::position_order(points);
  const std::vector<matching::Index> order = detail::cell_order({2}, points, by_hash);
  std::vector<matching::Index> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  double near = 0, near_by_hash = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto i = static_cast<std::size_t>(order[k]);
    CHECK(sorted[k] == static_cast<matching::Index>(k));
    CHECK(points.slot[i] == points.slot[k]);
    if (k == 0) continue;
    const auto apart = [&](const std::vector<matching::Index>& of) {
      const Vec3 &p = points.at[static_cast<std::size_t>(of[k])],
                 &q = points.at[static_cast<std::size_t>(of[k - 1])];
      return length_of({p.x - q.x, p.y - q.y, p.z - q.z});
    };
    near += apart(order), near_by_hash += apart(by_hash);
  }
  CHECK(near < 0.6 * near_by_hash);
  CHECK(detail::cell_order({1}, points, by_hash) == order);
}

TEST_CASE("tracks that cross the sides of a part do not count as beginning or ending there") {
  const Walkers series = keen_walkers(kParticles, kFrames, 0.6, 0.1, 5);
  const SeriesPoints points = pool_points(series.frames);
  auto part = middle_part({1}, points, kMost);
  REQUIRE(part);
  SeriesLinking truth = SeriesLinking::none(part->points.size());
  for (std::size_t k = 0; k < part->whole.size(); ++k) {
    const auto next = series.next[static_cast<std::size_t>(part->whole[k])];
    if (next < 0 || part->part[static_cast<std::size_t>(next)] < 0) continue;
    truth.next[k] = part->part[static_cast<std::size_t>(next)];
    truth.previous[static_cast<std::size_t>(truth.next[k])] = static_cast<matching::Index>(k);
  }
  const SeriesModel first = first_model(part->points, {}, 4);
  const SeriesModel all = fit_model(part->points, {}, truth, first);
  part->points.inner = part->inner;
  const SeriesModel inside = fit_model(part->points, {}, truth, first);
  INFO("ends " << inside.end << ", with the sides " << all.end);
  CHECK(inside.end < 0.002);
  CHECK(inside.birth < 0.002);
  CHECK(all.end > 0.03);
}

TEST_CASE("a large series is linked as well as if its model were chosen on all of it") {
  const auto check = [](const Walkers& series, MotionModel expected, double most_wrong) {
    const SeriesLinks whole = linked(series, 1'000'000), large = linked(series, kMost);
    INFO(static_cast<int>(expected) << ": wrong " << share_wrong(series, whole) << " and "
                                    << share_wrong(series, large) << ", links " << whole.links << " and "
                                    << large.links);
    CHECK(whole.chosen == expected);
    CHECK(large.chosen == expected);
    CHECK(whole.chosen_on == kAll);
    CHECK(large.chosen_on == kChosenOn);
    CHECK(share_wrong(series, large) < share_wrong(series, whole) + most_wrong);
    CHECK(static_cast<double>(large.links) > 0.995 * static_cast<double>(whole.links));
    CHECK(large.model.end < whole.model.end + 0.005);
  };
  check(keen_walkers(kParticles, kFrames, 0.6, 0.2, 1), MotionModel::joint, 0.003);
  check(turning_body(2), MotionModel::field, 0.003);
  check(shaken(0.12, 4), MotionModel::standing, 0.003);
}

TEST_CASE("a large series' links are the same for any thread count and with any model asked for") {
  const Walkers series = keen_walkers(kParticles, kFrames, 0.5, 0.2, 7);
  const SeriesLinks one = linked(series, kMost, MotionModel::automatic, 1);
  CHECK(one.chosen == MotionModel::joint);
  CHECK(linked(series, kMost, MotionModel::automatic, 3).linking.next == one.linking.next);
  for (const MotionModel model : {MotionModel::standing, MotionModel::velocity, MotionModel::field}) {
    const SeriesLinks large = linked(series, kMost, model);
    INFO(static_cast<int>(model) << ": wrong " << share_wrong(series, large));
    CHECK(large.chosen == model);
    CHECK(large.chosen_on == kChosenOn);
    CHECK(share_wrong(series, large) < (model == MotionModel::velocity ? 0.02 : 0.4));
  }
}

TEST_CASE("a part in time is the middle frames, and more than few of them") {
  const auto still = [](int frames) {
    return pool_points(
        motes::testing::walkers_moved(100, frames, 6, [](std::mt19937_64&) { return [](Vec3&) {}; }).frames);
  };
  const SeriesPoints points = still(60);
  const auto part = middle_frames(points, 5999, 4);
  REQUIRE(part);
  CHECK(part->first_frame == 21);
  CHECK(part->points.frames() == 18);  // 0.3 x 5,999 detections of 100 per frame
  CHECK(std::ssize(part->points.at) == 1800);
  CHECK(part->points.at.front() == points.at[2100]);
  // 16 frames are few for links over 4.
  const auto small = middle_frames(points, 1000, 4);
  REQUIRE(small);
  CHECK(small->points.frames() == 17);
  CHECK_FALSE(middle_frames(points, 6000, 4));
  CHECK_FALSE(middle_frames(still(42), 1000, 4));
  CHECK(middle_frames(still(43), 1000, 4));
}

TEST_CASE("a long series is linked as well as if its model were chosen on all frames") {
  const int particles = 150, frames = 60;
  const auto check = [&](const Walkers& series, MotionModel expected) {
    const SeriesLinks whole = linked(series, 1'000'000), large = linked(series, 6000),
                      one = linked(series, 6000, MotionModel::automatic, 1);
    INFO(static_cast<int>(expected) << ": wrong " << share_wrong(series, whole) << " and "
                                    << share_wrong(series, large));
    CHECK(whole.chosen_on == particles * frames);
    CHECK(large.chosen_on < particles * frames / 3);
    CHECK(whole.chosen == expected);
    CHECK(large.chosen == expected);
    CHECK(share_wrong(series, large) < share_wrong(series, whole) + 0.003);
    CHECK(one.linking.next == large.linking.next);
  };
  check(keen_walkers(particles, frames, 0.6, 0.2, 1), MotionModel::joint);
  check(motes::testing::walkers_moved(particles, frames, 4,
                                      [](std::mt19937_64& rng) {
                                        return [&rng](Vec3& p) {
                                          std::normal_distribution<> shake(0, 0.15);
                                          p = {p.x + shake(rng), p.y + shake(rng), p.z + shake(rng)};
                                        };
                                      }),
        MotionModel::standing);
}

TEST_CASE("neighbours that move together only late in a long series are followed") {
  const int particles = 150, frames = 60;
  const double middle = std::cbrt(particles) / 2;
  int frame = 0;
  const Walkers series = motes::testing::walkers_moved(particles, frames, 8, [&](std::mt19937_64& rng) {
    const double shear = frame < 42 ? 0 : frame % 2 == 0 ? 0.12 : -0.12;
    ++frame;
    return [&rng, middle, shear](Vec3& p) {
      std::normal_distribution<> shake(0, 0.05);
      p = {p.x + shear * (p.y - middle) + shake(rng), p.y + shake(rng), p.z + shake(rng)};
    };
  });
  const SeriesLinks whole = linked(series, 1'000'000), large = linked(series, 6000);
  INFO("wrong " << share_wrong(series, whole) << " and " << share_wrong(series, large));
  CHECK(whole.chosen == MotionModel::field);
  CHECK(large.chosen == MotionModel::field);
  CHECK(share_wrong(series, large) < share_wrong(series, whole) + 0.003);
}
