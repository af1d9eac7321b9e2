#include <limits>
#include <sstream>

#include "sim/simulation.h"
#include "tracking/types/errors.h"

namespace motes::sim {
namespace {

constexpr std::int64_t kMaxParticles = std::numeric_limits<std::int32_t>::max();
constexpr double kMaxPoints = 0x1p32;  // 44 bytes each: more than any machine this runs on holds
constexpr double kMaxVoxels = 0x1p32;  // a voxel's number is one word of the random counter
constexpr double kLargest = 1e12;      // products of a few options stay far from overflow
constexpr double kMaxGrey = std::numeric_limits<std::uint16_t>::max();

template <class Value>
[[noreturn]] void refuse(const char* key, Value value, const std::string& advice) {
  std::ostringstream message;
  message << key << ": " << value << " " << advice;
  throw UsageError(message.str());
}

void require_at_least_0(const char* key, double value) {
  if (!(value >= 0 && value <= kLargest)) refuse(key, value, "is no number from 0 to 1e12; give one");
}

void require_positive(const char* key, double value) {
  if (!(value > 0 && value <= kLargest))
    refuse(key, value, "is no number above 0 (and up to 1e12); give one");
}

void require_positive(const char* key, const Vec3& value) {
  require_positive(key, value.z);
  require_positive(key, value.y);
  require_positive(key, value.x);
}

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

void check_options(const MotionOptions& motion, const ImagingOptions& imaging) {
  check_options(motion);
  require_positive("imaging.voxel_um", imaging.voxel_um);
  require_positive("imaging.psf_sigma_um", imaging.psf_sigma_um);
  const Vec3 &box = motion.box_um, &voxel = imaging.voxel_um;
  const double voxels = (box.x / voxel.x + 1) * (box.y / voxel.y + 1) * (box.z / voxel.z + 1);
  if (!(voxels <= kMaxVoxels))
    refuse("imaging.voxel_um", voxel.x,
           "makes frames of over 2^32 voxels; enlarge it or shrink simulation.box_um");
  require_at_least_0("imaging.background", imaging.background);
  require_positive("imaging.snr", imaging.snr);
  require_at_least_0("imaging.offset", imaging.offset);
  require_at_least_0("imaging.read_noise", imaging.read_noise);
  if (imaging.background + imaging.offset > kMaxGrey)
    refuse("imaging.background", imaging.background,
           "plus imaging.offset is over 65535 grey levels; lower either");
  if (!(peak_for_snr(imaging.snr, imaging.background) + imaging.background + imaging.offset <= kMaxGrey))
    refuse("imaging.snr", imaging.snr,
           "needs a peak over 65535 grey levels, which no 16-bit voxel holds; lower it");
}

}  // namespace motes::sim
