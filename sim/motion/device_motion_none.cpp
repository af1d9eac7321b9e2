/// The GPU form of the motion in a build without CUDA: it reports why there is no device.

#include <motes/base/errors.h>

#include "sim/motion/device_motion.h"

namespace motes::sim::detail {

void follow_on_device(const Execution&, const Simulation&, Records&, const StopAsked&) {
  throw ResourceError("execution.backend: this build has no CUDA code; use auto or cpu");
}

}  // namespace motes::sim::detail
