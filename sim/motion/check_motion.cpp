/// Checks of the motion options.

#include <algorithm>
#include <cmath>
#include <limits>

#include <motes/sim/motion.h>

#include "sim/motion/model.h"
#include "sim/motion/population.h"
#include "sim/refuse.h"

namespace motes::sim {
namespace {

using detail::refuse, detail::require_at_least_0, detail::require_positive;

constexpr double kMaxParticles = std::numeric_limits<std::int32_t>::max();
constexpr double kMaxPoints = 0x1p32;   // 44 bytes each: more than the memory of typical machines
constexpr double kMaxFlowSteps = 1000;  // Runge-Kutta steps per frame

void require_finite(const char* key, const Vec3& value) {
  for (const double v : {value.z, value.y, value.x})
    if (!(std::abs(v) <= detail::kLargestOption))
      refuse(key, v, "is not a number from -1e12 to 1e12; give one");
}

void check_numbers(const MotionOptions& motion) {
  if (motion.particles < 1 || static_cast<double>(motion.particles) > kMaxParticles)
    refuse("simulation.particles", motion.particles,
           "is outside 1 to 2147483647; give a number in that range");
  require_at_least_0("simulation.density_per_um3", motion.density_per_um3);
  if (motion.frames < 1) refuse("simulation.frames", motion.frames, "is below 1; give at least one frame");
  require_positive("simulation.dt_s", motion.dt_s);
  require_at_least_0("simulation.time_jitter_s", motion.time_jitter_s);
  require_positive("simulation.box_um", motion.box_um);
}

void check_own_motion(const MotionOptions& motion) {
  if (!(motion.persistence >= 0 && motion.persistence <= 1))
    refuse("simulation.persistence", motion.persistence, "is outside [0, 1]; give a number in that range");
  require_at_least_0("simulation.speed_um_s", motion.speed_um_s);
  require_at_least_0("simulation.speed_spread", motion.speed_spread);
  require_at_least_0("simulation.diffusion_um2_s", motion.diffusion_um2_s);
  require_positive("simulation.confinement_radius_um", motion.confinement_radius_um);
  const bool diffuses = motion.motion == Motion::brownian || motion.motion == Motion::confined;
  if (diffuses && !(motion.diffusion_um2_s > 0))
    refuse("simulation.diffusion_um2_s", motion.diffusion_um2_s,
           "leaves brownian and confined particles where they are; give a number above 0");
}

void check_state_values(const char* key, const std::vector<double>& values, std::size_t states) {
  if (!values.empty() && values.size() != states)
    refuse(key, values.size(),
           "numbers for " + std::to_string(states) + " states; give one for each, or none");
  for (const double value : values) require_at_least_0(key, value);
}

void check_switching(const MotionOptions& motion) {
  const std::size_t n = motion.states.size();
  if (motion.motion != Motion::switching) {
    if (n > 0)
      refuse("simulation.states", n,
             "states, but simulation.motion is not switching; set it, or give no states");
    return;
  }
  if (n < 2 || n > detail::kMaxStates)
    refuse("simulation.states", n, "states for simulation.motion switching; give 2 to 8");
  if (std::find(motion.states.begin(), motion.states.end(), Motion::switching) != motion.states.end())
    refuse("simulation.states", "switching", "is not a state; give walk, brownian, directed or confined");
  const std::size_t rates = motion.switch_rate_per_s.size();
  if (rates != n && rates != n * n)
    refuse("simulation.switch_rate_per_s", rates,
           "rates for " + std::to_string(n) + " states; give one per state, or one for each pair of states");
  for (const double rate : motion.switch_rate_per_s) require_at_least_0("simulation.switch_rate_per_s", rate);
  check_state_values("simulation.state_speed_um_s", motion.state_speed_um_s, n);
  check_state_values("simulation.state_diffusion_um2_s", motion.state_diffusion_um2_s, n);
  // Each frame is simulated event by event, so their number is limited.
  for (const double rate : motion.switch_rate_per_s)
    if (!(rate * motion.dt_s <= 1e4))
      refuse("simulation.switch_rate_per_s", rate,
             "makes over 10000 changes within simulation.dt_s; lower it, or merge the states");
}

void check_population(const MotionOptions& motion) {
  require_at_least_0("simulation.birth_rate_per_s", motion.birth_rate_per_s);
  require_at_least_0("simulation.death_rate_per_s", motion.death_rate_per_s);
  require_at_least_0("simulation.division_s", motion.division_s);
  require_at_least_0("simulation.division_spread_s", motion.division_spread_s);
  require_at_least_0("simulation.division_distance_um", motion.division_distance_um);
  require_at_least_0("simulation.repulsion_um", motion.repulsion_um);
  require_at_least_0("simulation.repulsion_rate_per_s", motion.repulsion_rate_per_s);
  if (motion.division_s > 0 && motion.division_s < motion.dt_s / 100)
    refuse("simulation.division_s", motion.division_s,
           "makes over 100 divisions within simulation.dt_s; lengthen it, or shorten dt_s");
}

void check_flow(const MotionOptions& motion) {
  require_finite("simulation.drift_um_s", motion.drift_um_s);
  require_finite("simulation.rotation_deg_s", Vec3{motion.rotation_deg_s, 0, 0});
  require_finite("simulation.rotation_axis", motion.rotation_axis);
  if (motion.rotation_deg_s != 0 && !(length_of(motion.rotation_axis) > 0))
    refuse("simulation.rotation_axis", 0, "is not a direction; give a vector that is not 0");
  require_at_least_0("simulation.flow_speed_um_s", motion.flow_speed_um_s);
  require_positive("simulation.flow_scale_um", motion.flow_scale_um);
  if (motion.flow_modes < 1 || motion.flow_modes > 4096)
    refuse("simulation.flow_modes", motion.flow_modes, "is outside 1 to 4096; give a number in that range");
  const double steps = detail::flow_of(motion).rate_per_s * motion.dt_s / detail::kFlowStep;
  if (!(steps <= kMaxFlowSteps)) {
    const bool turns = motion.flow == Flow::none;
    refuse(turns ? "simulation.rotation_deg_s" : "simulation.flow_speed_um_s",
           turns ? motion.rotation_deg_s : motion.flow_speed_um_s,
           "turns particles about too often within simulation.dt_s (a frame would take " +
               std::to_string(static_cast<std::int64_t>(std::min(steps, 1e15))) +
               " steps, 1000 are allowed); lower it, or shorten dt_s");
  }
}

void check_seeding(const MotionOptions& motion) {
  require_at_least_0("simulation.min_distance_um", motion.min_distance_um);
  if (motion.margin_um) require_at_least_0("simulation.margin_um", *motion.margin_um);
  if (motion.clusters < 1 || motion.clusters > 100000000)
    refuse("simulation.clusters", motion.clusters, "is outside 1 to 100000000; give a number in that range");
  require_at_least_0("simulation.cluster_radius_um", motion.cluster_radius_um);
  require_positive("simulation.seeding_radius_um", motion.seeding_radius_um);
  if (motion.seeding != Seeding::ball && motion.seeding != Seeding::shell) return;
  const Vec3 &radius = motion.seeding_radius_um, &box = motion.box_um;
  for (const auto& [r, length] : {std::pair{radius.z, box.z}, {radius.y, box.y}, {radius.x, box.x}})
    if (!(2 * r <= length))
      refuse("simulation.seeding_radius_um", r,
             "is more than half of simulation.box_um, " + std::to_string(length) + "; lower it");
}

/// Checks the total size.
void check_size(const MotionOptions& motion) {
  const double particles = detail::domain_particles(motion);
  const bool dense = motion.density_per_um3 > 0;
  if (!(particles <= kMaxParticles))
    refuse(dense ? "simulation.density_per_um3" : "simulation.particles",
           dense ? motion.density_per_um3 : static_cast<double>(motion.particles),
           "makes over 2147483647 particles (with the margin around the box); lower it");
  const double births = detail::domain_birth_rate(motion) * motion.dt_s * motion.frames;
  if (!(particles + births <= kMaxParticles))
    refuse("simulation.birth_rate_per_s", motion.birth_rate_per_s,
           "makes over 2147483647 particles in all frames; lower it");
  if (!((particles + births) * motion.frames <= kMaxPoints))
    refuse("simulation.frames", motion.frames,
           "frames of that many particles are over 2^32 points; lower either");
}

}  // namespace

void check_options(const MotionOptions& motion) {
  check_numbers(motion);
  check_own_motion(motion);
  check_switching(motion);
  check_population(motion);
  check_flow(motion);
  check_seeding(motion);
  check_size(motion);
}

}  // namespace motes::sim
