#pragma once
/// Particles that interact: cells that divide, and push each other apart.

#include <motes/sim/stoppable.h>

#include "sim/motion/records.h"

namespace motes::sim::detail {

/// Whether the options need all particles to be moved frame by frame together.
bool needs_population(const MotionOptions& options);

/// Moves all particles from frame to frame. Between two frames each particle moves alone (as in walker.h) and
/// divides at its time; then those closer than repulsion_um push each other apart. Throws UsageError naming
/// simulation.division_s if there are too many cells to count. Calls `stop` before each frame. The result
/// does not depend on the thread count.
Records simulate_population(const Execution& execution, const MotionOptions& options,
                            const Simulation& simulation, const StopAsked& stop);

}  // namespace motes::sim::detail
