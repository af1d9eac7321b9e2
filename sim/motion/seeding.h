#pragma once
/// The positions where particles begin.

#include <vector>

#include <motes/sim/motion.h>
#include <motes/sim/stoppable.h>

#include "sim/motion/model.h"

namespace motes::sim::detail {

/// Positions of the first `initial` particles, followed by those of the `later` ones that are born: uniform
/// in the domain, in clusters, or on a surface, by options.seeding. No two of the first ones are closer than
/// min_distance_um, for boundary periodic also across the walls (random sequential addition: a particle too
/// close to an earlier one is drawn again). Expected O(particles) if there is enough room. Throws UsageError
/// naming simulation.min_distance_um if no place is found in 1000 draws. Calls `stop` every few thousand
/// draws, and throws Interrupted once it returns true.
std::vector<Vec3> seed_positions(const Execution& execution, const MotionOptions& options,
                                 const Domain& domain, std::size_t initial, std::size_t later,
                                 const StopAsked& stop);

}  // namespace motes::sim::detail
