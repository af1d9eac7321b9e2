#pragma once
/// Particle motion with ground truth. docs/simulation.md states the model.

#include <cstdint>

#include "tracking/execution.h"
#include "tracking/types/geometry.h"
#include "tracking/types/track_set.h"

namespace motes::sim {

/// The correlated/biased random walk of Vasconcelos & Rosenhahn 2009, section 6: each step's velocity mixes
/// the previous direction (weight `persistence`) and a random bias vector (weight 1 - persistence).
struct MotionOptions {
  std::int64_t particles = 200;
  std::int32_t frames = 20;
  double dt_s = 1;
  Vec3 box_um{25.6, 25.6, 12.8};
  double persistence = 0.8;    ///< in [0, 1]; 0: directions independent, 1: straight lines
  double speed_um_s = 0.5;     ///< length of every step / dt_s
  double min_distance_um = 0;  ///< between particles of the first frame
  std::uint64_t seed = 1;
};

/// Throws UsageError naming the key (simulation.*) of the first option that makes no sense.
void check_options(const MotionOptions& motion);

/// True tracks, one a particle, all with all frames (`detection` -1); particles reflect at the box. Positions
/// lie in [0, box]. Throws UsageError naming the key for nonsense. The same for any thread count, and on
/// every machine with IEEE doubles. O(particles * frames).
TrackSet simulate_motion(const Execution& execution, const MotionOptions& options);

}  // namespace motes::sim
