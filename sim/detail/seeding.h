#pragma once
/// Where the particles of the first frame lie.

#include <vector>

#include "sim/motion.h"

namespace motes::sim::detail {

/// Uniform positions in the box, [particles]; no two nearer than min_distance_um (random sequential addition:
/// a particle that comes too near an earlier one is drawn again). Expected O(particles) while there is room.
/// Throws UsageError naming simulation.min_distance_um where no place is found in 1000 draws.
std::vector<Vec3> seed_positions(const Execution& execution, const MotionOptions& options);

}  // namespace motes::sim::detail
