#include <limits>

#include "sim/detail/refuse.h"
#include "sim/motion.h"

namespace motes::sim {
namespace {

using detail::refuse, detail::require_at_least_0, detail::require_positive;

constexpr std::int64_t kMaxParticles = std::numeric_limits<std::int32_t>::max();
constexpr double kMaxPoints = 0x1p32;  // 44 bytes each: more than any machine this runs on holds

}  // namespace

void check_options(const MotionOptions& motion) {
  if (motion.particles < 1 || motion.particles > kMaxParticles)
    refuse("simulation.particles", motion.particles, "is outside 1 to 2147483647; give a number in there");
  if (motion.frames < 1) refuse("simulation.frames", motion.frames, "is below 1; give at least one frame");
  if (static_cast<double>(motion.particles) * motion.frames > kMaxPoints)
    refuse("simulation.frames", motion.frames,
           "frames of that many particles are over 2^32 points; lower either");
  require_positive("simulation.dt_s", motion.dt_s);
  require_positive("simulation.box_um", motion.box_um);
  if (!(motion.persistence >= 0 && motion.persistence <= 1))
    refuse("simulation.persistence", motion.persistence, "is outside [0, 1]; give a number in there");
  require_at_least_0("simulation.speed_um_s", motion.speed_um_s);
  require_at_least_0("simulation.min_distance_um", motion.min_distance_um);
}

}  // namespace motes::sim
