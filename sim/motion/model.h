#pragma once
/// The motion model from the options: rates, probabilities, flow modes, and the places and times at which
/// particles begin.

#include <vector>

#include <motes/sim/stoppable.h>

#include "sim/motion/walker.h"

namespace motes::sim::detail {

/// Owns the data of the model's view (in host memory).
struct Simulation {
  MotionModel model;
  std::vector<double> times;  ///< [frames]; empty if frames are regular
  std::vector<FlowMode> modes;
  std::vector<Vec3> seeds;     ///< [particles] initial positions
  std::vector<double> births;  ///< [particles] times of birth; empty: all with the first frame
  std::size_t initial = 0;     ///< number of particles that begin with the first frame
  std::size_t particles() const { return seeds.size(); }
  double birth(std::size_t particle) const { return births.empty() ? first_time() : births[particle]; }
  double first_time() const { return times.empty() ? 0 : times.front(); }
};

/// The options must have been checked. Throws UsageError naming simulation.min_distance_um if there is not
/// enough room, Interrupted once `stop` returns true.
Simulation make_simulation(const Execution& execution, const MotionOptions& options, const StopAsked& stop);

/// The number of particles in the box, from the options' number or density.
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

/// Long-run share of each state of a chain with these rates; all in state 0 if some state cannot be reached
/// again from another. By Grassmann, Taksar & Heyman 1985, without subtractions, so without cancellation.
std::vector<double> stationary_shares(std::vector<std::vector<double>> rates);

}  // namespace motes::sim::detail
