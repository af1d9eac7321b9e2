#pragma once
/// The GPU form of the motion of independent particles.

#include <motes/sim/stoppable.h>

#include "sim/motion/records.h"

namespace motes::sim::detail {

/// Fills x, y, z and, where it has room for them, the codes of dense records, with the bits that the CPU
/// gives. Throws ResourceError for device trouble, and asks
/// `stop` before each batch. Only where gpu::list_devices() finds a device.
void follow_on_device(const Execution& execution, const Simulation& simulation, Records& records,
                      const StopAsked& stop);

}  // namespace motes::sim::detail
