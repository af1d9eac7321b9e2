#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/sim/simulation.h>
#include <motes/sim/stoppable.h>

using namespace motes;
using namespace motes::sim;

namespace {

Vec3 step_of(const TrackSet& tracks, std::size_t point) {
  return {tracks.x_um[point + 1] - tracks.x_um[point], tracks.y_um[point + 1] - tracks.y_um[point],
          tracks.z_um[point + 1] - tracks.z_um[point]};
}

/// A box so large that no particle reaches a wall.
MotionOptions open_space() {
  MotionOptions options;
  options.particles = 400;
  options.frames = 30;
  options.box_um = {1e6, 1e6, 1e6};
  options.speed_um_s = 0.5;
  options.dt_s = 2;
  return options;
}

/// Mean of <d_t, d_t+1> / step^2 over all particles and steps.
double direction_correlation(const MotionOptions& options) {
  const TrackSet tracks = simulate_motion({}, options);
  const double step = options.speed_um_s * options.dt_s;
  double sum = 0;
  std::int64_t count = 0;
  for (std::size_t track = 0; track < tracks.tracks(); ++track)
    for (auto p = static_cast<std::size_t>(tracks.track_offsets[track]);
         p + 2 < static_cast<std::size_t>(tracks.track_offsets[track + 1]); ++p, ++count)
      sum += dot(step_of(tracks, p), step_of(tracks, p + 1)) / (step * step);
  return sum / static_cast<double>(count);
}

void check_refused(const std::string& key, const MotionOptions& options) {
  CAPTURE(key);
  CHECK_THROWS_AS(simulate_motion({}, options), UsageError);
  CHECK_THROWS_WITH(simulate_motion({}, options), Catch::StartsWith(key + ": "));
}

}  // namespace

TEST_CASE("the truth is a full, well-formed track set") {
  MotionOptions options;
  options.particles = 7;
  options.frames = 5;
  options.dt_s = 0.25;
  const TrackSet tracks = simulate_motion({}, options);
  REQUIRE(tracks.tracks() == 7);
  REQUIRE(tracks.points() == 35);
  CHECK(tracks.length_unit == "um");
  CHECK(tracks.dt_s == 0.25);
  CHECK(tracks.parent.empty());
  for (std::size_t p = 0; p < tracks.points(); ++p) {
    CHECK(tracks.frame[p] == static_cast<std::int32_t>(p % 5));
    CHECK(tracks.time_s[p] == tracks.frame[p] * 0.25);
    CHECK(tracks.detection[p] == -1);
  }
  for (std::size_t t = 0; t <= tracks.tracks(); ++t)
    CHECK(tracks.track_offsets[t] == static_cast<std::int64_t>(t * 5));
}

TEST_CASE("one seed gives the same tracks for any thread count, another seed others") {
  MotionOptions options;
  options.min_distance_um = GENERATE(0.0, 1.0);
  const TrackSet one = simulate_motion({1}, options), two = simulate_motion({2}, options);
  CHECK(one.x_um == two.x_um);
  CHECK(one.y_um == two.y_um);
  CHECK(one.z_um == two.z_um);
  options.seed = 2;
  CHECK(simulate_motion({1}, options).x_um != one.x_um);
}

TEST_CASE("the bits of the walk never change") {
  MotionOptions options;
  options.box_um = {3, 2, 1};
  const TrackSet tracks = simulate_motion({}, options);
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a, word by word
  for (const auto* axis : {&tracks.x_um, &tracks.y_um, &tracks.z_um})
    for (const double value : *axis) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211ULL;
  CHECK(hash == 0xd0666f14a42e44a5ULL);
}

TEST_CASE("a simulation ends where it is asked to, and being asked changes nothing") {
  MotionOptions options;
  options.particles = 2000;
  options.division_s = GENERATE(0.0, 30.0);  // particles one by one, and frame by frame together
  std::atomic<int> asked{0};
  const TrackSet tracks = simulate_motion({2}, options, [&] { return ++asked < 0; });
  CHECK(asked > 1);
  CHECK(tracks.x_um == simulate_motion({2}, options).x_um);
  asked = 0;
  CHECK_THROWS_AS(simulate_motion({2}, options, [&] { return ++asked > 1; }), Interrupted);
}

TEST_CASE("a longer run begins with the shorter one") {
  MotionOptions options;
  options.particles = 3;
  options.frames = 4;
  const TrackSet few = simulate_motion({}, options);
  options.particles = 5;
  options.frames = 6;
  const TrackSet many = simulate_motion({}, options);
  for (std::size_t particle = 0; particle < 3; ++particle)
    for (std::size_t t = 0; t < 4; ++t) CHECK(few.x_um[particle * 4 + t] == many.x_um[particle * 6 + t]);
}

TEST_CASE("every step has the length that the speed says") {
  MotionOptions options = open_space();
  options.box_um = {1e3, 1e3, 1e3};  // small enough for exact differences; few particles reflect
  options.persistence = GENERATE(0.0, 0.5, 0.8, 1.0);
  const TrackSet tracks = simulate_motion({}, options);
  int reflected = 0, steps = 0;
  for (std::size_t p = 0; p + 1 < tracks.points(); ++p) {
    if (tracks.frame[p + 1] == 0) continue;
    const Vec3 step = step_of(tracks, p);
    const double length = std::sqrt(dot(step, step));
    CHECK(length < 1 + 1e-9);
    reflected += length < 1 - 1e-9;
    ++steps;
  }
  CHECK(reflected < steps / 100);
}

TEST_CASE("directions correlate more as persistence grows") {
  MotionOptions options = open_space();
  double last = -1;
  for (const double persistence : {0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0}) {
    options.persistence = persistence;
    const double correlation = direction_correlation(options);
    CAPTURE(persistence, correlation);
    CHECK(correlation > last);
    if (persistence == 0) CHECK(std::abs(correlation) < 4 / std::sqrt(3.0 * 400 * 28));
    last = correlation;
  }
  CHECK(last == Approx(1).epsilon(1e-6));
}

TEST_CASE("full persistence is a straight line") {
  MotionOptions options = open_space();
  options.persistence = 1;
  const TrackSet tracks = simulate_motion({}, options);
  for (std::size_t track = 0; track < tracks.tracks(); ++track) {
    const std::size_t first = track * 30, last = first + 29;
    const Vec3 whole{tracks.x_um[last] - tracks.x_um[first], tracks.y_um[last] - tracks.y_um[first],
                     tracks.z_um[last] - tracks.z_um[first]};
    CHECK(std::sqrt(dot(whole, whole)) == Approx(29.0).epsilon(1e-6));
  }
}

TEST_CASE("particles stay in the box, however long their steps") {
  MotionOptions options;
  options.box_um = {3, 2, 1};
  options.speed_um_s = GENERATE(0.1, 1.0, 7.0, 1e6);
  options.persistence = GENERATE(0.0, 0.9, 1.0);
  const TrackSet tracks = simulate_motion({}, options);
  double sum = 0;
  for (std::size_t p = 0; p < tracks.points(); ++p) {
    CHECK((tracks.x_um[p] >= 0 && tracks.x_um[p] <= 3));
    CHECK((tracks.y_um[p] >= 0 && tracks.y_um[p] <= 2));
    CHECK((tracks.z_um[p] >= 0 && tracks.z_um[p] <= 1));
    sum += tracks.x_um[p];
  }
  CHECK(sum / static_cast<double>(tracks.points()) == Approx(1.5).epsilon(0.15));
}

TEST_CASE("a reflected particle flies back with the mirrored direction") {
  MotionOptions options;
  options.particles = 50;
  options.frames = 40;
  options.box_um = {4, 4, 4};
  options.persistence = 1;
  options.speed_um_s = 0.3;
  const TrackSet tracks = simulate_motion({}, options);
  for (std::size_t p = 0; p + 2 < tracks.points(); ++p) {
    if (tracks.frame[p + 2] < 2) continue;
    // |velocity| per axis never changes, but for the one step that touches the wall.
    const double now = std::abs(step_of(tracks, p).x), next = std::abs(step_of(tracks, p + 1).x);
    const double x = tracks.x_um[p + 1];
    if (x > 0.6 && x < 3.4) CHECK(now == Approx(next).margin(1e-9));
  }
}

TEST_CASE("in a periodic box the minimum distance holds across the walls") {
  MotionOptions options;
  options.frames = 1;
  options.boundary = Boundary::periodic;
  options.box_um = GENERATE(Vec3{10, 8, 4}, Vec3{1.5, 3, 2});  // the second has but two cells along x and z
  options.min_distance_um = options.box_um.x > 5 ? 0.5 : 0.7;
  options.particles = options.box_um.x > 5 ? 500 : 12;
  const TrackSet tracks = simulate_motion({}, options);
  const auto across = [](double d, double length) { return std::min(std::abs(d), length - std::abs(d)); };
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < tracks.points(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      nearest = std::min(nearest, std::hypot(across(tracks.x_um[i] - tracks.x_um[j], options.box_um.x),
                                             across(tracks.y_um[i] - tracks.y_um[j], options.box_um.y),
                                             across(tracks.z_um[i] - tracks.z_um[j], options.box_um.z)));
  CHECK(nearest >= options.min_distance_um * (1 - 1e-12));
}

TEST_CASE("seeding keeps the minimum distance, and fills the box evenly") {
  MotionOptions options;
  options.particles = 500;
  options.frames = 1;
  options.box_um = {10, 8, 4};
  options.min_distance_um = 0.5;
  const TrackSet tracks = simulate_motion({}, options);
  double nearest2 = std::numeric_limits<double>::infinity(), sum_z = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    sum_z += tracks.z_um[i];
    for (std::size_t j = 0; j < i; ++j) {
      const double dx = tracks.x_um[i] - tracks.x_um[j], dy = tracks.y_um[i] - tracks.y_um[j],
                   dz = tracks.z_um[i] - tracks.z_um[j];
      nearest2 = std::min(nearest2, dx * dx + dy * dy + dz * dz);
    }
  }
  CHECK(nearest2 >= 0.25);
  CHECK(sum_z / 500 == Approx(2).epsilon(0.1));
}

TEST_CASE("motion options that make no sense are refused by their key") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto with = [](auto change) {
    MotionOptions options;
    change(options);
    return options;
  };
  check_refused("simulation.particles", with([](auto& o) { o.particles = 0; }));
  check_refused("simulation.particles", with([](auto& o) { o.particles = std::int64_t{1} << 40; }));
  check_refused("simulation.frames", with([](auto& o) { o.frames = 0; }));
  check_refused("simulation.frames", with([](auto& o) { o.particles = 2000000000, o.frames = 2000000000; }));
  check_refused("simulation.dt_s", with([](auto& o) { o.dt_s = 0; }));
  check_refused("simulation.box_um", with([](auto& o) { o.box_um.z = -1; }));
  check_refused("simulation.box_um", with([&](auto& o) { o.box_um.x = nan; }));
  check_refused("simulation.persistence", with([](auto& o) { o.persistence = 1.01; }));
  check_refused("simulation.persistence", with([&](auto& o) { o.persistence = nan; }));
  check_refused("simulation.speed_um_s", with([](auto& o) { o.speed_um_s = -1; }));
  check_refused("simulation.min_distance_um", with([](auto& o) { o.min_distance_um = -0.1; }));
  check_refused("simulation.min_distance_um", with([](auto& o) { o.min_distance_um = 20; }));
  check_refused("simulation.density_per_um3", with([](auto& o) { o.density_per_um3 = 1e9; }));
  check_refused("simulation.time_jitter_s", with([](auto& o) { o.time_jitter_s = -1; }));
  check_refused("simulation.speed_spread", with([&](auto& o) { o.speed_spread = nan; }));
  check_refused("simulation.diffusion_um2_s", with([](auto& o) { o.diffusion_um2_s = -1; }));
  check_refused("simulation.diffusion_um2_s", with([](auto& o) { o.motion = Motion::brownian; }));
  check_refused("simulation.confinement_radius_um", with([](auto& o) { o.confinement_radius_um = 0; }));
  check_refused("simulation.states", with([](auto& o) { o.motion = Motion::switching; }));
  check_refused("simulation.states", with([](auto& o) { o.states = {Motion::walk, Motion::walk}; }));
  const auto switching = [&](auto change) {
    return with([&](auto& o) {
      o.motion = Motion::switching;
      o.states = {Motion::walk, Motion::directed};
      o.switch_rate_per_s = {1, 2};
      change(o);
    });
  };
  simulate_motion({}, switching([](auto&) {}));
  check_refused("simulation.states", switching([](auto& o) { o.states[1] = Motion::switching; }));
  check_refused("simulation.switch_rate_per_s", switching([](auto& o) { o.switch_rate_per_s = {1}; }));
  check_refused("simulation.switch_rate_per_s", switching([](auto& o) { o.switch_rate_per_s = {1, -2}; }));
  check_refused("simulation.switch_rate_per_s", switching([](auto& o) { o.switch_rate_per_s = {1, 1e9}; }));
  check_refused("simulation.state_speed_um_s", switching([](auto& o) { o.state_speed_um_s = {1}; }));
  check_refused("simulation.state_diffusion_um2_s", switching([](auto& o) {
                  o.state_diffusion_um2_s = {1, -1};
                }));
  check_refused("simulation.margin_um", with([](auto& o) { o.margin_um = -1; }));
  check_refused("simulation.particles",
                with([](auto& o) { o.boundary = Boundary::open, o.margin_um = 1e6; }));
  check_refused("simulation.birth_rate_per_s", with([](auto& o) { o.birth_rate_per_s = -1; }));
  check_refused("simulation.birth_rate_per_s", with([](auto& o) { o.birth_rate_per_s = 1e10; }));
  check_refused("simulation.death_rate_per_s", with([](auto& o) { o.death_rate_per_s = -1; }));
  check_refused("simulation.drift_um_s", with([&](auto& o) { o.drift_um_s.y = nan; }));
  check_refused("simulation.rotation_deg_s", with([](auto& o) { o.rotation_deg_s = 1e9; }));
  check_refused("simulation.rotation_axis",
                with([](auto& o) { o.rotation_deg_s = 1, o.rotation_axis = {}; }));
  check_refused("simulation.flow_speed_um_s", with([](auto& o) { o.flow_speed_um_s = -1; }));
  check_refused("simulation.flow_speed_um_s",
                with([](auto& o) { o.flow = Flow::shear, o.flow_speed_um_s = 1e9; }));
  check_refused("simulation.flow_scale_um", with([](auto& o) { o.flow_scale_um = 0; }));
  check_refused("simulation.flow_modes", with([](auto& o) { o.flow_modes = 0; }));
  check_refused("simulation.division_s", with([](auto& o) { o.division_s = -1; }));
  check_refused("simulation.division_s", with([](auto& o) { o.division_s = 1e-6; }));
  check_refused("simulation.division_spread_s", with([](auto& o) { o.division_spread_s = -1; }));
  check_refused("simulation.division_distance_um", with([](auto& o) { o.division_distance_um = -1; }));
  check_refused("simulation.repulsion_um", with([](auto& o) { o.repulsion_um = -1; }));
  check_refused("simulation.repulsion_rate_per_s", with([](auto& o) { o.repulsion_rate_per_s = -1; }));
  check_refused("simulation.clusters", with([](auto& o) { o.clusters = 0; }));
  check_refused("simulation.cluster_radius_um", with([](auto& o) { o.cluster_radius_um = -1; }));
  check_refused("simulation.seeding_radius_um", with([](auto& o) { o.seeding_radius_um.z = 0; }));
  check_refused("simulation.seeding_radius_um",
                with([](auto& o) { o.seeding = Seeding::shell, o.seeding_radius_um.x = 20; }));
}
