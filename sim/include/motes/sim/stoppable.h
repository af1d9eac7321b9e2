#pragma once
/// Simulations that the caller can stop.

#include <functional>

#include <motes/sim/faults.h>
#include <motes/sim/motion.h>

namespace motes::sim {

/// Returns true once the caller wants the work to stop. Called repeatedly, by several threads at once.
using StopAsked = std::function<bool()>;

/// As simulate_motion in motion.h, but throws Interrupted once stop() returns true. Calls of stop() do not
/// change the result.
TrackSet simulate_motion(const Execution& execution, const MotionOptions& options, const StopAsked& stop);

/// As observe in faults.h, with stop() called before each frame.
Observation observe(const Execution& execution, const TrackSet& truth, const MotionOptions& motion,
                    const FaultOptions& faults, const StopAsked& stop);

}  // namespace motes::sim
