/// The turbulence follows kinematic simulation (Fung et al. 1992): modes with random directions, with lengths
/// spaced evenly in the logarithm over a factor of kFlowDecade and the energy E(k) ~ k^(-5/3) of the inertial
/// range, so amplitudes ~ k^(-1/3). Each mode oscillates at the turnover rate of its eddies. Wave vectors are
/// rounded to those that fit the domain, and amplitudes are orthogonal to the rounded ones, so the divergence
/// is 0.

#include "sim/motion/model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sim/motion/seeding.h"

namespace motes::sim::detail {
namespace {

constexpr double kFlowDecade = 8;      // longest over shortest wave
constexpr double kBeatsPerTurn = 0.5;  // frequency of a mode, divided by amplitude times wave number

double state_value(const std::vector<double>& values, std::size_t state, double otherwise) {
  return values.empty() ? otherwise : values[state];
}

void fill_states(const MotionOptions& options, MotionModel& model) {
  if (options.motion != Motion::switching) {
    model.states[0].motion = options.motion;
    model.states[0].speed = options.speed_um_s;
    model.states[0].diffusion = options.diffusion_um2_s;
    model.initial[0] = 1;
    model.has_confined = options.motion == Motion::confined;
    return;
  }
  const auto rates = switch_rates(options);
  const auto shares = stationary_shares(rates);
  model.state_count = static_cast<int>(options.states.size());
  double begun = 0;
  for (std::size_t i = 0; i < options.states.size(); ++i) {
    StateModel& state = model.states[i];
    state.motion = options.states[i];
    state.speed = state_value(options.state_speed_um_s, i, options.speed_um_s);
    state.diffusion = state_value(options.state_diffusion_um2_s, i, options.diffusion_um2_s);
    for (const double rate : rates[i]) state.leave_rate += rate;
    double sum = 0;
    for (std::size_t j = 0; j < rates[i].size(); ++j) {
      sum += rates[i][j];
      state.next[j] = state.leave_rate > 0 ? sum / state.leave_rate : 1;
    }
    model.initial[i] = begun += shares[i];
    model.has_confined = model.has_confined || state.motion == Motion::confined;
  }
}

Vec3 unit_vector(Random& random) { return random_unit_vector(random); }

/// The wave of this length and direction that fits the domain best, in turns per um.
Vec3 fitting_wave(const Vec3& direction, double per_um, const Vec3& size, FlowWalls walls) {
  if (walls == FlowWalls::tangent) {
    const auto half_waves = [&](double along, double length) {
      return std::max(1.0, std::round(std::abs(along) * per_um * 2 * length)) / (2 * length);
    };
    return {half_waves(direction.x, size.x), half_waves(direction.y, size.y),
            half_waves(direction.z, size.z)};
  }
  const auto waves = [&](double along, double length) {
    return std::round(along * per_um * length) / length;
  };
  Vec3 wave{waves(direction.x, size.x), waves(direction.y, size.y), waves(direction.z, size.z)};
  if (wave == Vec3{}) wave.x = 1 / size.x;  // for waves longer than the domain, the longest that fits
  return wave;
}

std::vector<FlowMode> flow_modes(const MotionOptions& options, const FlowField& flow, const Vec3& size) {
  std::vector<FlowMode> modes(static_cast<std::size_t>(options.flow_modes));
  double energy = 0;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    Random random(options.seed, RandomStream::flow, static_cast<std::uint32_t>(i), 0);
    const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(modes.size());
    const double relative =
        exact_exp(place * exact_log(kFlowDecade));  // wave number relative to the smallest
    FlowMode& mode = modes[i];
    mode.wave = fitting_wave(unit_vector(random), relative / options.flow_scale_um, size, flow.walls);
    const double length2 = dot(mode.wave, mode.wave);
    while (length_of(mode.amplitude) < 0.1) {  // orthogonal to the wave, not too short to be normalised
      const Vec3 any = unit_vector(random);
      mode.amplitude = any - dot(any, mode.wave) / length2 * mode.wave;
    }
    // relative^(-1/3) without a cube root of the C library.
    const double size_of = exact_exp(-exact_log(relative) / 3);
    mode.amplitude = size_of / length_of(mode.amplitude) * mode.amplitude;
    mode.phase = random.uniform();
    mode.frequency = size_of * relative;  // proportional to the amplitude; scaled below
    energy += size_of * size_of;
  }
  // A plane wave's square has mean 1/2; a wall wave's three factors and its beat have 1/16.
  const double mean = flow.walls == FlowWalls::tangent ? energy / 16 : energy / 2;
  const double factor = options.flow_speed_um_s / std::sqrt(mean);
  for (FlowMode& mode : modes) {
    mode.amplitude = factor * mode.amplitude;
    mode.frequency *= kBeatsPerTurn * factor / options.flow_scale_um;
  }
  return modes;
}

std::vector<double> birth_times(const MotionOptions& options, double first, double last) {
  std::vector<double> times;
  const double rate = domain_birth_rate(options);
  if (!(rate > 0)) return times;
  Random random(options.seed, RandomStream::birth, 0, 0);
  for (double t = first + random.exponential() / rate; t <= last; t += random.exponential() / rate)
    times.push_back(t);
  return times;
}

}  // namespace

double wanted_particles(const MotionOptions& options) {
  if (!(options.density_per_um3 > 0)) return static_cast<double>(options.particles);
  const Vec3& box = options.box_um;
  return std::max(1.0, std::floor(options.density_per_um3 * box.x * box.y * box.z + 0.5));
}

namespace {

/// An estimate of the largest distance that a particle moves in one frame.
double reach_of_frame(const MotionOptions& options) {
  double speed = options.speed_um_s, diffusion = options.diffusion_um2_s;
  for (const double v : options.state_speed_um_s) speed = std::max(speed, v);
  for (const double d : options.state_diffusion_um2_s) diffusion = std::max(diffusion, d);
  speed *= 1 + 3 * options.speed_spread;
  if (options.flow != Flow::none) speed += 2 * options.flow_speed_um_s;
  const double turn = std::abs(options.rotation_deg_s) * std::numbers::pi / 180;
  speed += length_of(options.drift_um_s) + turn * length_of(options.box_um) / 2;
  return speed * options.dt_s + 3 * std::sqrt(2 * diffusion * options.dt_s);
}

double domain_over_box(const MotionOptions& options) {
  const Vec3 size = domain_of(options).size, &box = options.box_um;
  return size.x / box.x * (size.y / box.y) * (size.z / box.z);
}

}  // namespace

Domain domain_of(const MotionOptions& options) {
  if (options.boundary != Boundary::open) return {{0, 0, 0}, options.box_um};
  const Vec3& box = options.box_um;
  const double margin =
      options.margin_um.value_or(std::min(reach_of_frame(options), std::max({box.x, box.y, box.z})));
  return {{-margin, -margin, -margin}, {box.x + 2 * margin, box.y + 2 * margin, box.z + 2 * margin}};
}

double domain_particles(const MotionOptions& options) {
  const double wanted = wanted_particles(options);
  const bool fills = options.seeding == Seeding::uniform || options.seeding == Seeding::clusters;
  if (options.boundary != Boundary::open || !fills) return wanted;
  return std::max(1.0, std::floor(wanted * domain_over_box(options) + 0.5));
}

double domain_birth_rate(const MotionOptions& options) {
  return options.boundary == Boundary::open ? options.birth_rate_per_s * domain_over_box(options)
                                            : options.birth_rate_per_s;
}

FlowField flow_of(const MotionOptions& options) {
  FlowField flow;
  const Vec3& box = options.box_um;
  flow.drift = options.drift_um_s;
  flow.centre = 0.5 * box;
  const double turn = options.rotation_deg_s * std::numbers::pi / 180;
  const double axis = length_of(options.rotation_axis);
  if (turn != 0 && axis > 0) flow.rotation_rad_s = turn / axis * options.rotation_axis;
  flow.kind = options.flow;
  flow.speed = options.flow_speed_um_s;
  flow.scale = options.flow_scale_um;
  flow.box_y = box.y;
  const bool through = options.boundary == Boundary::periodic || options.boundary == Boundary::open;
  flow.walls = through ? FlowWalls::periodic : FlowWalls::tangent;
  flow.rate_per_s = std::abs(turn);
  if (flow.kind == Flow::shear) flow.rate_per_s += 2 * flow.speed / box.y;
  if (flow.kind == Flow::vortex) flow.rate_per_s += std::numbers::sqrt2 * flow.speed / flow.scale;
  if (flow.kind == Flow::turbulence) {
    // Root mean square of a mode's wave number times the speed: roughly the strain rate.
    flow.rate_per_s += std::numbers::pi * flow.speed * (1 + std::sqrt(kFlowDecade)) / flow.scale;
  }
  const bool moves = flow.kind != Flow::none && flow.speed > 0;
  flow.still = !moves && turn == 0 && options.drift_um_s == Vec3{};
  return flow;
}

std::vector<std::vector<double>> switch_rates(const MotionOptions& options) {
  const std::size_t n = options.states.size();
  const std::vector<double>& given = options.switch_rate_per_s;
  std::vector<std::vector<double>> rates(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i != j) rates[i][j] = given.size() == n ? given[i] / static_cast<double>(n - 1) : given[i * n + j];
  return rates;
}

std::vector<double> stationary_shares(std::vector<std::vector<double>> rates) {
  const std::size_t n = rates.size();
  std::vector<double> shares(n, 0.0);
  shares[0] = 1;
  for (std::size_t last = n - 1; last > 0; --last) {  // eliminates one state after the other
    double out = 0;
    for (std::size_t j = 0; j < last; ++j) out += rates[last][j];
    if (!(out > 0)) return shares;
    for (std::size_t i = 0; i < last; ++i) {
      rates[i][last] /= out;
      for (std::size_t j = 0; j < last; ++j)
        if (i != j) rates[i][j] += rates[i][last] * rates[last][j];
    }
  }
  double sum = 1;
  for (std::size_t j = 1; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) shares[j] += shares[i] * rates[i][j];
    sum += shares[j];
  }
  for (double& share : shares) share /= sum;
  return shares;
}

Simulation make_simulation(const Execution& execution, const MotionOptions& options, const StopAsked& stop) {
  Simulation simulation;
  MotionModel& model = simulation.model;
  model.seed = options.seed;
  model.frames = options.frames;
  model.dt_s = options.dt_s;
  if (options.time_jitter_s > 0) simulation.times = frame_times(options);
  model.times_s = simulation.times.empty() ? nullptr : simulation.times.data();
  const Domain domain = domain_of(options);
  model.box = options.box_um;
  model.lower = domain.lower;
  model.size = domain.size;
  model.boundary = options.boundary;
  model.new_run_direction = options.new_run_direction;
  model.persistence = options.persistence;
  model.speed_spread = options.speed_spread;
  model.confinement = options.confinement;
  model.confinement_radius = options.confinement_radius_um;
  model.death_rate = options.death_rate_per_s;
  fill_states(options, model);
  model.flow = flow_of(options);
  if (options.flow == Flow::turbulence && !model.flow.still) {
    simulation.modes = flow_modes(options, model.flow, domain.size);
    model.flow.modes = simulation.modes.data();
    model.flow.mode_count = options.flow_modes;
  }
  simulation.initial = static_cast<std::size_t>(domain_particles(options));
  const double first = simulation.first_time();
  const std::vector<double> later =
      birth_times(options, first,
                  simulation.times.empty() ? (options.frames - 1) * options.dt_s : simulation.times.back());
  simulation.seeds = seed_positions(execution, options, domain, simulation.initial, later.size(), stop);
  if (!later.empty()) {
    simulation.births.assign(simulation.initial, first);
    simulation.births.insert(simulation.births.end(), later.begin(), later.end());
  }
  return simulation;
}

}  // namespace motes::sim::detail

namespace motes::sim {

std::vector<double> frame_times(const MotionOptions& options) {
  std::vector<double> times(static_cast<std::size_t>(options.frames));
  for (std::size_t k = 0; k < times.size(); ++k) {
    double shift = 0;
    if (options.time_jitter_s > 0) {
      const auto frame = static_cast<std::uint32_t>(k);
      shift = options.time_jitter_s * Random(options.seed, RandomStream::frame_time, frame, 0).normal();
      // Frames keep their order, and none precedes the start.
      shift = std::clamp(shift, k == 0 ? 0.0 : -0.45 * options.dt_s, 0.45 * options.dt_s);
    }
    times[k] = static_cast<double>(k) * options.dt_s + shift;
  }
  return times;
}

}  // namespace motes::sim
