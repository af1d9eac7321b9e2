#pragma once
/// The motion model that the options describe: rates, probabilities, flow modes, and where and when each
/// particle begins.

#include <vector>

#include <motes/sim/stoppable.h>

#include "sim/motion/walker.h"

namespace motes::sim::detail {

/// Owns what the model's view points into (host memory).
struct Simulation {
  MotionModel model;
  std::vector<double> times;  ///< [frames]; empty where frames are regular
  std::vector<FlowMode> modes;
  std::vector<Vec3> seeds;     ///< [particles] initial positions
  std::vector<double> births;  ///< [particles] when; empty: all with the first frame
  std::size_t initial = 0;     ///< the particles that begin with the first frame
  std::size_t particles() const { return seeds.size(); }
  double birth(std::size_t particle) const { return births.empty() ? first_time() : births[particle]; }
  double first_time() const { return times.empty() ? 0 : times.front(); }
};

/// The options must have been checked. Throws UsageError naming simulation.min_distance_um if no room is
/// found, Interrupted once `stop` returns true.
Simulation make_simulation(const Execution& execution, const MotionOptions& options, const StopAsked& stop);

/// The number of particles in the box, by the options' number or density.
double wanted_particles(const MotionOptions& options);

/// Box and margin.
struct Domain {
  Vec3 lower, size;
};
Domain domain_of(const MotionOptions& options);

/// Particles in the whole domain in the first frame, and births per second in it.
double domain_particles(const MotionOptions& options);
double domain_birth_rate(const MotionOptions& options);

/// The field that carries all particles, without its modes.
FlowField flow_of(const MotionOptions& options);

/// Rates of switching, [n][n], 0 on the diagonal.
std::vector<std::vector<double>> switch_rates(const MotionOptions& options);

/// Long-run share of each state of a chain of such rates; all in state 0 where some state is never reached
/// again from another. Grassmann, Taksar & Heyman 1985: no subtractions, so no cancellation.
std::vector<double> stationary_shares(std::vector<std::vector<double>> rates);

}  // namespace motes::sim::detail
