#pragma once
/// Simulations that can be ended from outside.

#include <functional>

#include <motes/sim/faults.h>
#include <motes/sim/motion.h>

namespace motes::sim {

/// Whether the caller wants the work to end. Asked now and then, by several threads side by side.
using StopAsked = std::function<bool()>;

/// As simulate_motion, but once `stop` says true the work ends with Interrupted. Being asked changes nothing.
TrackSet simulate_motion(const Execution& execution, const MotionOptions& options, const StopAsked& stop);

/// As observe, likewise; asked before each frame.
Observation observe(const Execution& execution, const TrackSet& truth, const MotionOptions& motion,
                    const FaultOptions& faults, const StopAsked& stop);

}  // namespace motes::sim
