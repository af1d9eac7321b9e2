#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/sim/motion.h>

#include "sim/motion/repulsion.h"
#include "tests/sim/motion_statistics.h"

using namespace motes;
using namespace motes::sim;
using namespace motes::testing;

namespace {

MotionOptions dividing() {
  MotionOptions options;
  options.particles = 60;
  options.frames = 41;
  options.dt_s = 60;
  options.box_um = {60, 60, 60};
  options.seeding = Seeding::ball;
  options.seeding_radius_um = {10, 10, 10};
  options.motion = Motion::brownian;
  options.diffusion_um2_s = 1e-4;
  options.division_s = 1200;
  options.division_spread_s = 120;
  options.division_distance_um = 2;
  return options;
}

double least_distance(const std::vector<Vec3>& points) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) least = std::min(least, squared_length(points[i] - points[j]));
  return std::sqrt(least);
}

std::vector<Vec3> points_of_frame(const TrackSet& tracks, std::int32_t frame) {
  std::vector<Vec3> points;
  for (std::size_t p = 0; p < tracks.points(); ++p)
    if (tracks.frame[p] == frame) points.push_back(position(tracks, p));
  return points;
}

}  // namespace

TEST_CASE("cells divide in two, each knows its mother, and their number doubles a cycle") {
  const MotionOptions options = dividing();
  const TrackSet tracks = simulate_motion({}, options);
  REQUIRE(tracks.parent.size() == tracks.tracks());
  const auto &began = tracks.track_properties[0].values, &ended = tracks.track_properties[1].values;
  std::vector<int> daughters(tracks.tracks(), 0);
  double founders = 0, divided = 0;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    CHECK(tracks.track_id[t] == static_cast<std::int64_t>(t));
    CHECK((began[t] == kBeganDivision) == (tracks.parent[t] >= 0));
    divided += ended[t] == kEndedDivided;
    if (tracks.parent[t] < 0) {
      ++founders;
      continue;
    }
    const auto mother = static_cast<std::size_t>(tracks.parent[t]);
    ++daughters[mother];
    CHECK(ended[mother] == kEndedDivided);
    const std::size_t last = first_point(tracks, mother + 1) - 1, first = first_point(tracks, t);
    CHECK(tracks.frame[first] == tracks.frame[last] + 1);
    CHECK(length_of(position(tracks, first) - position(tracks, last)) ==
          Approx(1).margin(0.8));  // half the distance, and a minute of diffusion
  }
  CHECK(founders == 60);
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    CHECK(daughters[t] == (ended[t] == kEndedDivided ? 2 : 0));
  // 40 minutes are two cycles, begun at random points of the first: about four times as many.
  const double at_end = static_cast<double>(points_of_frame(tracks, 40).size());
  CHECK(at_end == Approx(60 * 4).epsilon(0.2));
  CHECK(static_cast<double>(tracks.tracks()) == 60 + 2 * divided);
}

TEST_CASE("many divisions within one frame leave whole families") {
  MotionOptions options = dividing();
  options.particles = 20;
  options.frames = 4;
  options.dt_s = 2000;
  options.division_s = 900;
  const TrackSet tracks = simulate_motion({}, options);
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    CHECK(points_of(tracks, t) > 0);
    if (tracks.parent[t] >= 0) CHECK(tracks.parent[t] < static_cast<std::int64_t>(t));
    if (tracks.frame[first_point(tracks, t)] > 0) CHECK(tracks.parent[t] >= 0);
  }
}

TEST_CASE("repulsion keeps cells apart, the same for any thread count") {
  MotionOptions options = dividing();
  options.repulsion_um = 3;
  options.repulsion_rate_per_s = 0.05;
  options.birth_rate_per_s = 0.005;
  options.boundary = GENERATE(Boundary::reflecting, Boundary::open);
  const TrackSet tracks = simulate_motion({1}, options);
  CHECK(same_bits(tracks, simulate_motion({2}, options)));
  CHECK(same_bits(tracks, simulate_motion({3}, options)));
  options.repulsion_um = 0;
  const double apart = least_distance(points_of_frame(tracks, 40));
  const double overlapping = least_distance(points_of_frame(simulate_motion({}, options), 40));
  CHECK(apart > 1);
  CHECK(apart > 2 * overlapping);
}

TEST_CASE("in a periodic box pushes reach across the walls") {
  Random random(10, RandomStream::seeding, 0, 0);
  const Vec3 box{5, 4, 2};
  std::vector<Vec3> points;
  for (int i = 0; i < 200; ++i)
    points.push_back({box.x * random.uniform(), box.y * random.uniform(), box.z * random.uniform()});
  const double reach = GENERATE(0.3, 0.9);
  const std::vector<Vec3> pushes = detail::overlap_pushes({2}, points, reach, box);
  const auto nearest_image = [](double d, double length) { return d - length * std::round(d / length); };
  for (std::size_t i = 0; i < points.size(); ++i) {
    Vec3 expected;
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (i == j) continue;
      const Vec3 way = points[i] - points[j];
      const Vec3 arm{nearest_image(way.x, box.x), nearest_image(way.y, box.y), nearest_image(way.z, box.z)};
      const double distance = length_of(arm);
      if (distance < reach) expected += 0.5 * (reach - distance) / distance * arm;
    }
    CHECK(squared_length(pushes[i] - expected) < 1e-20);
  }
}

TEST_CASE("pushes part a pair, cancel in sum, and agree with all pairs") {
  Random random(9, RandomStream::seeding, 0, 0);
  std::vector<Vec3> points;
  for (int i = 0; i < 400; ++i)
    points.push_back({5 * random.uniform(), 4 * random.uniform(), random.uniform()});
  points.push_back(points.front());  // two at one place
  const double reach = GENERATE(0.3, 1.0, 20.0);
  const std::vector<Vec3> pushes = detail::overlap_pushes({2}, points, reach);
  Vec3 sum;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Vec3 expected;
    for (std::size_t j = 0; j < points.size(); ++j) {
      const Vec3 arm = points[i] - points[j];
      const double distance = length_of(arm);
      if (i == j || distance >= reach) continue;
      if (distance == 0) {
        expected.x += (i < j ? -0.5 : 0.5) * reach;
        continue;
      }
      expected += 0.5 * (reach - distance) / distance * arm;
    }
    CHECK(squared_length(pushes[i] - expected) < 1e-16 * (1 + squared_length(expected)));
    sum += pushes[i];
  }
  CHECK(squared_length(sum) < 1e-12);
  CHECK(detail::overlap_pushes({}, {}, 1).empty());
}
