#pragma once
/// The GPU form of the motion of independent particles.

#include <motes/sim/stoppable.h>

#include "sim/motion/records.h"

namespace motes::sim::detail {

/// Fills x, y, z and, if present, the codes of dense records, with the same bits as the CPU. Calls `stop`
/// before each batch. Throws ResourceError if the device fails. Requires a device (gpu::list_devices()).
void follow_on_device(const Execution& execution, const Simulation& simulation, Records& records,
                      const StopAsked& stop);

}  // namespace motes::sim::detail
