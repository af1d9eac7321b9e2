#include <cmath>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/sim/motion.h>
#include <motes/sim/stoppable.h>

#include "tests/sim/motion_statistics.h"

using namespace motes;
using namespace motes::sim;
using namespace motes::testing;

namespace {

MotionOptions first_frame(Seeding seeding) {
  MotionOptions options;
  options.particles = 4000;
  options.frames = 1;
  options.box_um = {12, 10, 8};
  options.seeding = seeding;
  options.seeding_radius_um = {6, 4, 2};
  return options;
}

}  // namespace

TEST_CASE("a density makes as many particles as the box holds") {
  MotionOptions options = first_frame(Seeding::uniform);
  options.density_per_um3 = 0.5;
  CHECK(simulate_motion({}, options).tracks() == 480);
}

TEST_CASE("a ball is filled evenly, a shell covered by area") {
  const TrackSet ball = simulate_motion({}, first_frame(Seeding::ball));
  std::vector<double> share;
  for (std::size_t p = 0; p < ball.points(); ++p) {
    const Vec3 d = position(ball, p) - Vec3{6, 5, 4};
    const double r2 = d.x * d.x / 36 + d.y * d.y / 16 + d.z * d.z / 4;
    CHECK(r2 <= 1 + 1e-12);
    share.push_back(std::pow(r2, 1.5));
  }
  CHECK(std::abs(uniform_misfit(share, 1 + 1e-9)) < 4.5);

  MotionOptions sphere = first_frame(Seeding::shell);
  sphere.seeding_radius_um = {3, 3, 3};
  const TrackSet shell = simulate_motion({}, sphere);
  std::vector<double> height;  // of a sphere's area, uniform (Archimedes)
  for (std::size_t p = 0; p < shell.points(); ++p) {
    const Vec3 d = position(shell, p) - Vec3{6, 5, 4};
    CHECK(length_of(d) == Approx(3));
    height.push_back(d.z + 3);
  }
  CHECK(std::abs(uniform_misfit(height, 6 + 1e-9)) < 4.5);

  // A needle's area lies along its length; by direction alone its middle would get far more.
  MotionOptions needle = first_frame(Seeding::shell);
  needle.box_um = {100, 10, 10};
  needle.seeding_radius_um = {50, 1, 1};
  const TrackSet thin = simulate_motion({}, needle);
  double far = 0;
  for (const double x : thin.x_um) far += std::abs(x - 50) > 25;
  // Area beyond half the length of a thin spheroid: (1/2)(1 - (2/pi)(asin(1/2) + sqrt(3)/4)) on each side.
  const double expected = 1 - 2 / 3.14159265 * (std::asin(0.5) + std::sqrt(3.0) / 4);
  CHECK(far / 4000 == Approx(expected).epsilon(0.06));
}

TEST_CASE("clusters hold their particles, and planes are flat") {
  MotionOptions options = first_frame(Seeding::clusters);
  options.clusters = 5;
  options.cluster_radius_um = 0.5;
  const TrackSet tracks = simulate_motion({}, options);
  std::vector<Vec3> centres;  // greedy: the points within a diameter of one are its cluster's
  for (std::size_t p = 0; p < tracks.points(); ++p) {
    bool near = false;
    for (const Vec3& c : centres) near = near || squared_length(position(tracks, p) - c) <= 1;
    if (!near) centres.push_back(position(tracks, p));
  }
  CHECK(centres.size() <= 10);
  CHECK(centres.size() >= 3);
  options.particles = 20;
  options.cluster_radius_um = 1e9;  // far beyond the box: folded back, not sought for ever
  for (const double x : simulate_motion({}, options).x_um) CHECK((x >= 0 && x <= 12));
  const TrackSet plane = simulate_motion({}, first_frame(Seeding::plane));
  for (const double z : plane.z_um) CHECK(z == 4);
  CHECK(std::abs(uniform_misfit(plane.x_um, 12)) < 4.5);
}

TEST_CASE("a shell keeps the minimum distance too") {
  MotionOptions options = first_frame(Seeding::shell);
  options.particles = 200;
  options.min_distance_um = 0.5;
  const TrackSet tracks = simulate_motion({}, options);
  for (std::size_t i = 0; i < 200; ++i)
    for (std::size_t j = 0; j < i; ++j)
      CHECK(squared_length(position(tracks, i) - position(tracks, j)) >= 0.25);
}

TEST_CASE("the search for room ends where it is asked to") {
  MotionOptions options = first_frame(Seeding::uniform);
  options.particles = 1000000;  // there is room for some 12,000, so the last ones are drawn again and again
  options.min_distance_um = 0.4;
  options.frames = 1;
  int asked = 0;
  CHECK_THROWS_AS(simulate_motion({1}, options, [&] { return ++asked > 3; }), Interrupted);
  CHECK(asked == 4);
}
