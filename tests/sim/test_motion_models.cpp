/// Statistics of the motion models against theory.
#include <map>
#include <numbers>
#include <set>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/sim/motion.h>

#include "sim/motion/model.h"
#include "tests/sim/motion_statistics.h"
#include "tests/support/allocation_faults.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::sim;
using namespace motes::testing;

namespace {

/// A mean of `count` squared Gaussian lengths in 3D scatters by sqrt(2/3/count) of itself; five of those.
double tolerance(std::size_t count) { return 5 * std::sqrt(2.0 / 3.0 / static_cast<double>(count)); }

MotionOptions two_states(double leave_first, double leave_second) {
  MotionOptions options = open_space(400, 200);
  options.motion = Motion::switching;
  options.states = {Motion::brownian, Motion::directed};
  options.switch_rate_per_s = {leave_first, leave_second};
  options.diffusion_um2_s = 0.01;
  return options;
}

}  // namespace

TEST_CASE("Brownian motion spreads by 6 D t") {
  MotionOptions options = open_space();
  options.motion = Motion::brownian;
  options.diffusion_um2_s = GENERATE(0.001, 0.3, 40.0);
  const TrackSet tracks = simulate_motion({}, options);
  for (const std::size_t to : {1u, 5u, 11u}) {
    const double expected = 6 * options.diffusion_um2_s * static_cast<double>(to) * options.dt_s;
    CHECK(mean_squared_displacement(tracks, 0, to) == Approx(expected).epsilon(tolerance(4000)));
  }
}

TEST_CASE("a directed run spreads by (v t)^2 + 6 D t, along one direction a particle") {
  MotionOptions options = open_space();
  options.motion = Motion::directed;
  options.speed_um_s = 2;
  options.diffusion_um2_s = 0.5;
  const TrackSet tracks = simulate_motion({}, options);
  for (const std::size_t to : {1u, 11u}) {
    const double t = static_cast<double>(to) * options.dt_s;
    CHECK(mean_squared_displacement(tracks, 0, to) == Approx(4 * t * t + 3 * t).epsilon(2 * tolerance(4000)));
  }
  options.diffusion_um2_s = 0;
  const TrackSet straight = simulate_motion({}, options);
  CHECK(mean_squared_displacement(straight, 0, 11) == Approx(std::pow(2 * 5.5, 2)).epsilon(1e-3));
}

TEST_CASE("a persistent walk's spread follows from the correlation of its steps") {
  // MSD(n) = sum over pairs of steps of their correlation, whatever it is: an identity of stationary steps.
  MotionOptions options = open_space(8000, 11);
  options.persistence = GENERATE(0.0, 0.5, 0.9, 1.0);
  const TrackSet tracks = simulate_motion({}, options);
  const double step = options.speed_um_s * options.dt_s;
  std::vector<double> correlation(10, 0.0), weight(10, 0.0);
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    for (std::size_t i = 0; i + 1 < 11; ++i)
      for (std::size_t j = i; j + 1 < 11; ++j) {
        const std::size_t first = first_point(tracks, t);
        const Vec3 a = position(tracks, first + i + 1) - position(tracks, first + i);
        const Vec3 b = position(tracks, first + j + 1) - position(tracks, first + j);
        correlation[j - i] += a.x * b.x + a.y * b.y + a.z * b.z;
        weight[j - i] += step * step;
      }
  double expected = 0;
  for (std::size_t lag = 0; lag < 10; ++lag)
    expected += (lag == 0 ? 1 : 2) * static_cast<double>(10 - lag) * correlation[lag] / weight[lag];
  CHECK(mean_squared_displacement(tracks, 0, 10) == Approx(step * step * expected).epsilon(1e-6));
  if (options.persistence == 0)
    CHECK(mean_squared_displacement(tracks, 0, 10) == Approx(10 * step * step).epsilon(tolerance(8000)));
}

TEST_CASE("a spring's spread saturates at its variance, whatever the frame interval") {
  MotionOptions options = open_space(6000, 9);
  options.motion = Motion::confined;
  options.diffusion_um2_s = 0.2;
  options.confinement_radius_um = 0.4;
  options.dt_s = GENERATE(0.05, 0.4, 5.0);
  const TrackSet tracks = simulate_motion({}, options);
  const double rate = options.diffusion_um2_s / 0.16;
  for (const std::size_t to : {1u, 3u, 8u}) {
    const double t = static_cast<double>(to) * options.dt_s;
    const double expected = 3 * 0.16 * (1 - std::exp(-2 * rate * t));
    CHECK(mean_squared_displacement(tracks, 0, to) == Approx(expected).epsilon(tolerance(6000)));
  }
}

TEST_CASE("a sphere holds its particle, which fills it evenly") {
  MotionOptions options = open_space(4000, 2);
  options.motion = Motion::confined;
  options.confinement = Confinement::sphere;
  options.confinement_radius_um = 0.7;
  options.diffusion_um2_s = 1;
  options.dt_s = GENERATE(0.4, 1.2, 3.0);  // by steps, nearly relaxed, drawn directly
  const TrackSet tracks = simulate_motion({}, options);
  std::vector<double> share;  // of the volume within: uniform
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const std::size_t p = first_point(tracks, t);
    const double r = length_of(position(tracks, p + 1) - position(tracks, p)) / 0.7;
    CHECK(r <= 1 + 1e-9);
    share.push_back(r * r * r);
  }
  CHECK(std::abs(uniform_misfit(share, 1 + 1e-9)) < 4.5);
}

TEST_CASE("diffusion between walls keeps every part of the box equally full") {
  MotionOptions options;
  options.motion = Motion::brownian;
  options.boundary = GENERATE(Boundary::reflecting, Boundary::periodic, Boundary::open);
  options.diffusion_um2_s = GENERATE(0.2, 30.0);
  options.particles = 5000;
  options.frames = 5;
  options.box_um = {3, 2, 1};
  const TrackSet tracks = simulate_motion({}, options);
  std::vector<double> x, z;
  for (std::size_t p = 0; p < tracks.points(); ++p) {
    if (tracks.frame[p] != 4) continue;
    x.push_back(tracks.x_um[p]);
    z.push_back(tracks.z_um[p]);
    CHECK((tracks.y_um[p] >= 0 && tracks.y_um[p] <= 2));
  }
  CHECK(std::abs(uniform_misfit(x, 3)) < 4.5);
  CHECK(std::abs(uniform_misfit(z, 1)) < 4.5);
}

TEST_CASE("absorbing walls take diffusing particles at the rate of theory") {
  // A slab thin in x: the survivors of a uniform start are sum 8 / (pi^2 n^2) exp(-n^2 pi^2 D t / L^2), n
  // odd.
  MotionOptions options;
  options.motion = Motion::brownian;
  options.boundary = Boundary::absorbing;
  options.particles = 20000;
  options.box_um = {1, 1e4, 1e4};
  options.diffusion_um2_s = 0.1;
  options.frames = GENERATE(2, 11);  // the same second in one step or in ten: paths between frames count too
  options.dt_s = 1.0 / (options.frames - 1);
  const TrackSet tracks = simulate_motion({}, options);
  double left = 0, expected = 0;
  for (const std::int32_t frame : tracks.frame) left += frame + 1 == options.frames;
  for (int n = 1; n < 40; n += 2) {
    const double k = n * std::numbers::pi;
    expected += 8 / (k * k) * std::exp(-k * k * 0.1);
  }
  CHECK(left / 20000 == Approx(expected).margin(4 * std::sqrt(0.25 / 20000)));
}

TEST_CASE("an open box stays equally full, and its tracks have no gaps") {
  MotionOptions options;
  options.boundary = Boundary::open;
  options.particles = 2000;
  options.frames = 30;
  options.box_um = {10, 10, 10};
  options.persistence = 0.5;
  const TrackSet tracks = simulate_motion({}, options);
  std::vector<double> count(30, 0.0);
  for (const std::int32_t frame : tracks.frame) ++count[static_cast<std::size_t>(frame)];
  for (const double n : count) CHECK(std::abs(n - 2000) < 5 * std::sqrt(2000.0));
  REQUIRE(tracks.track_properties.size() == 3);
  const auto &began = tracks.track_properties[0].values, &ended = tracks.track_properties[1].values;
  double entered = 0, left = 0;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const std::size_t first = first_point(tracks, t), n = points_of(tracks, t);
    CHECK(tracks.frame[first + n - 1] - tracks.frame[first] == static_cast<std::int32_t>(n) - 1);
    CHECK((began[t] == kBeganFirstFrame) == (tracks.frame[first] == 0));
    CHECK((ended[t] == kEndedLastFrame) == (tracks.frame[first + n - 1] == 29));
    entered += began[t] == kBeganEntered;
    left += ended[t] == kEndedLeft;
  }
  CHECK(entered > 1000);
  CHECK(entered == Approx(left).epsilon(0.1));

  options.same_track_on_return = true;
  const TrackSet whole = simulate_motion({}, options);
  CHECK(whole.points() == tracks.points());
  CHECK(whole.tracks() < tracks.tracks());
  bool gap = false;
  for (std::size_t t = 0; t < whole.tracks(); ++t) {
    const std::size_t first = first_point(whole, t), n = points_of(whole, t);
    gap = gap || whole.frame[first + n - 1] - whole.frame[first] >= static_cast<std::int32_t>(n);
    for (std::size_t p = first + 1; p < first + n; ++p)  // no track jumps across the margin
      if (whole.frame[p] == whole.frame[p - 1] + 1)
        CHECK(squared_length(position(whole, p) - position(whole, p - 1)) < 0.26);
  }
  CHECK(gap);
}

TEST_CASE("births are as many as the rate says, and lives as long") {
  MotionOptions options = open_space(3000, 40);
  options.birth_rate_per_s = 50;
  options.death_rate_per_s = 0.25;
  const TrackSet tracks = simulate_motion({}, options);
  const auto &began = tracks.track_properties[0].values, &ended = tracks.track_properties[1].values;
  double born = 0, first_left = 0;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    born += began[t] == kBeganBorn;
    if (began[t] == kBeganFirstFrame) first_left += ended[t] == kEndedLastFrame;
    CHECK((ended[t] == kEndedDied || ended[t] == kEndedLastFrame));
  }
  // A birth is seen where the particle lives to the next frame: 19.5 s of births, each with that chance.
  const double seen = (1 - std::exp(-0.25 * 0.5)) / (0.25 * 0.5), expected = 50 * 19.5 * seen;
  CHECK(std::abs(born - expected) < 4 * std::sqrt(expected));
  const double survive = std::exp(-0.25 * 19.5);
  CHECK(std::abs(first_left - 3000 * survive) < 4 * std::sqrt(3000 * survive));
}

TEST_CASE("states are held for exponential times of their rates, and shared as the chain says") {
  const MotionOptions options = two_states(0.5, 2);
  const TrackSet tracks = simulate_motion({}, options);
  REQUIRE(tracks.point_properties.size() == 1);
  const auto& state = tracks.point_properties[0].values;
  double second = 0, stays = 0, from_first = 0;
  for (std::size_t p = 0; p < state.size(); ++p) {
    second += state[p];
    if (p + 1 == state.size() || tracks.frame[p + 1] == 0 || state[p] == 1) continue;
    ++from_first;
    stays += state[p + 1] == 0;
  }
  CHECK(second / static_cast<double>(state.size()) == Approx(0.2).epsilon(0.05));
  // P(0 -> 0 after dt) of a two-state chain.
  const double expected = 0.8 + 0.2 * std::exp(-2.5 * options.dt_s);
  CHECK(stays / from_first == Approx(expected).epsilon(0.01));
}

TEST_CASE("states do not depend on how time is cut into frames") {
  MotionOptions options = two_states(0.7, 0.4);
  options.states = {Motion::brownian, Motion::directed, Motion::confined};
  options.switch_rate_per_s = {0, 1, 0.5, 0.2, 0, 0.1, 2, 1, 0};
  options.frames = 101;
  options.dt_s = 0.1;
  const TrackSet fine = simulate_motion({}, options);
  options.frames = 11;
  options.dt_s = 1;
  const TrackSet coarse = simulate_motion({}, options);
  int differing = 0;  // a change may fall within rounding of a frame's time
  for (std::size_t t = 0; t < 400; ++t)
    for (std::size_t k = 0; k < 11; ++k)
      differing +=
          fine.point_properties[0].values[t * 101 + 10 * k] != coarse.point_properties[0].values[t * 11 + k];
  CHECK(differing <= 1);
  CHECK(mean_squared_displacement(fine, 0, 100) ==
        Approx(mean_squared_displacement(coarse, 0, 10)).epsilon(0.25));
}

TEST_CASE("shares of a chain solve its balance") {
  const std::vector<std::vector<double>> rates{{0, 1, 0.5}, {0.2, 0, 0.1}, {2, 1, 0}};
  const auto shares = detail::stationary_shares(rates);
  double sum = 0;
  for (std::size_t j = 0; j < 3; ++j) {
    double in = 0, out = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      in += shares[i] * rates[i][j];
      out += shares[j] * rates[j][i];
    }
    CHECK(in == Approx(out));
    sum += shares[j];
  }
  CHECK(sum == Approx(1));
  CHECK(detail::stationary_shares({{0, 1}, {0, 0}}) == std::vector<double>{1, 0});
}

TEST_CASE("flows are incompressible, and still where they must be") {
  MotionOptions options;
  options.box_um = {8, 6, 7};
  options.flow = GENERATE(Flow::shear, Flow::vortex, Flow::turbulence);
  options.boundary = GENERATE(Boundary::reflecting, Boundary::periodic);
  options.flow_scale_um = 3;
  options.rotation_deg_s = 10;
  options.rotation_axis = {1, 2, 3};
  options.drift_um_s = {1, 2, 3};
  const auto simulation = detail::make_simulation({}, options, {});
  const detail::FlowField& flow = simulation.model.flow;
  Random random(5, RandomStream::seeding, 0, 0);
  const double h = 1e-4;
  double mean = 0;
  for (int i = 0; i < 200; ++i) {
    const Vec3 p{8 * random.uniform(), 6 * random.uniform(), 7 * random.uniform()};
    const auto v = [&](double x, double y, double z) {
      return detail::flow_velocity(flow, {p.x + x, p.y + y, p.z + z}, 0.7);
    };
    const double divergence =
        (v(h, 0, 0).x - v(-h, 0, 0).x + v(0, h, 0).y - v(0, -h, 0).y + v(0, 0, h).z - v(0, 0, -h).z) /
        (2 * h);
    CHECK(std::abs(divergence) < 1e-5);
  }
  if (options.flow != Flow::turbulence) return;
  detail::FlowField alone = flow;
  alone.drift = alone.rotation_rad_s = {};
  const int count = 20000;
  for (int i = 0; i < count; ++i) {
    const Vec3 p{8 * random.uniform(), 6 * random.uniform(), 7 * random.uniform()};
    mean += squared_length(detail::flow_velocity(alone, p, 100 * random.uniform()));
    if (i % 100 != 0) continue;
    const Vec3 wall = detail::flow_velocity(alone, {8, p.y, p.z}, 0.3);
    const Vec3 opposite = detail::flow_velocity(alone, {0, p.y, p.z}, 0.3);
    if (options.boundary == Boundary::reflecting)
      CHECK(std::abs(wall.x) + std::abs(opposite.x) < 1e-12);
    else
      CHECK(squared_length(wall - opposite) < 1e-20);
  }
  CHECK(std::sqrt(mean / count) == Approx(options.flow_speed_um_s).epsilon(0.05));
}

TEST_CASE("a rigid rotation keeps distances, and turns by its angle") {
  MotionOptions options;
  options.particles = 50;
  options.frames = 10;
  options.speed_um_s = 0;
  options.seeding = Seeding::ball;
  options.rotation_deg_s = 36;
  options.box_um = {20, 20, 20};
  const TrackSet tracks = simulate_motion({}, options);
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const std::size_t first = first_point(tracks, t);
    const Vec3 a = position(tracks, first) - Vec3{10, 10, 10};
    const Vec3 b = position(tracks, first + 5) - Vec3{10, 10, 10};  // half a turn about z
    CHECK(b.x == Approx(-a.x).margin(1e-4));
    CHECK(b.y == Approx(-a.y).margin(1e-4));
    CHECK(b.z == Approx(a.z).margin(1e-9));
  }
}

TEST_CASE("turbulence keeps the box evenly full") {
  MotionOptions options;
  options.particles = 8000;
  options.frames = 12;
  options.box_um = {6, 6, 6};
  options.speed_um_s = 0;
  options.flow = Flow::turbulence;
  options.flow_modes = 8;
  options.flow_scale_um = 4;
  options.flow_speed_um_s = 1;
  options.boundary = GENERATE(Boundary::reflecting, Boundary::periodic);
  const TrackSet tracks = simulate_motion({}, options);
  std::vector<double> x;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) x.push_back(tracks.x_um[first_point(tracks, t) + 11]);
  CHECK(std::abs(uniform_misfit(x, 6)) < 4.5);
}

TEST_CASE("speeds spread between particles, not within") {
  MotionOptions options = open_space(3000, 3);
  options.motion = Motion::directed;
  options.speed_um_s = 2;
  options.speed_spread = 0.2;
  const TrackSet tracks = simulate_motion({}, options);
  double sum = 0, sum2 = 0;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const std::size_t p = first_point(tracks, t);
    const double a = length_of(position(tracks, p + 1) - position(tracks, p));
    const double b = length_of(position(tracks, p + 2) - position(tracks, p + 1));
    CHECK(a == Approx(b).epsilon(1e-6));
    sum += a;
    sum2 += a * a;
  }
  const double mean = sum / 3000;
  CHECK(mean == Approx(1).epsilon(0.02));  // 2 um/s for half a second
  CHECK(std::sqrt(sum2 / 3000 - mean * mean) == Approx(0.2).epsilon(0.06));
}

TEST_CASE("jittered frames are simulated at the times they carry") {
  MotionOptions options = open_space(200, 50);
  options.motion = Motion::directed;
  options.time_jitter_s = 0.1;
  const TrackSet tracks = simulate_motion({}, options);
  const std::vector<double> times = frame_times(options);
  double sum2 = 0;
  for (std::size_t k = 1; k < times.size(); ++k) {
    CHECK(times[k] > times[k - 1]);
    sum2 += std::pow(times[k] - static_cast<double>(k) * options.dt_s, 2);
  }
  CHECK(std::sqrt(sum2 / 49) == Approx(0.1).epsilon(0.35));
  for (std::size_t p = 0; p + 1 < tracks.points(); ++p) {
    CHECK(tracks.time_s[p] == times[static_cast<std::size_t>(tracks.frame[p])]);
    if (tracks.frame[p + 1] == 0) continue;
    const double way = length_of(position(tracks, p + 1) - position(tracks, p));
    CHECK(way == Approx(0.5 * (tracks.time_s[p + 1] - tracks.time_s[p])).epsilon(1e-6));
  }
}

TEST_CASE("every motion gives the same bits for any thread count") {
  for (const NamedMotion& motion : every_motion()) {
    INFO(motion.name);
    const TrackSet one = simulate_motion({1}, motion.options);
    CHECK(one.points() > 0);
    CHECK(same_bits(one, simulate_motion({2}, motion.options)));
    CHECK(same_bits(one, simulate_motion({5}, motion.options)));
    for (std::size_t p = 0; p < one.points(); ++p) {
      const Vec3 at = position(one, p);
      if (!(at.x >= 0 && at.x <= 6 && at.y >= 0 && at.y <= 5 && at.z >= 0 && at.z <= 4))
        FAIL("out of the box");
    }
  }
}

TEST_CASE("the GPU gives the bits of the CPU") {
  MOTES_NEED_GPU();
  Execution cuda;
  cuda.backend = Backend::cuda;
  for (const NamedMotion& motion : every_motion()) {
    INFO(motion.name);
    CHECK(same_bits(simulate_motion({}, motion.options), simulate_motion(cuda, motion.options)));
  }
  MotionOptions large;  // several tiles and batches of threads
  large.particles = 5003;
  large.frames = 67;
  CHECK(same_bits(simulate_motion({}, large), simulate_motion(cuda, large)));
}

TEST_CASE("motion on the GPU survives memory that runs out at any allocation") {
  MOTES_NEED_GPU();
  Execution cuda;
  cuda.backend = Backend::cuda;
  MotionOptions options;
  options.particles = 300;
  const auto reference = simulate_motion({}, options);
  CHECK(testing::fail_each_allocation([&] {
          const TrackSet tracks = simulate_motion(cuda, options);
          CHECK(same_bits(reference, tracks));
        }) > 0);
}

TEST_CASE("a GPU that is not there, or cannot, is refused by the key") {
  Execution cuda;
  cuda.backend = Backend::cuda;
  MotionOptions options;
  options.repulsion_um = 1;
  CHECK_THROWS_WITH(simulate_motion(cuda, options), Catch::StartsWith("execution.backend: "));
  if (!gpu::list_devices().devices.empty()) return;
  options.repulsion_um = 0;
  CHECK_THROWS_AS(simulate_motion(cuda, options), ResourceError);
  CHECK_THROWS_WITH(simulate_motion(cuda, options), Catch::StartsWith("execution.backend: no GPU"));
}
