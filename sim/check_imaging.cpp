#include <limits>

#include "sim/detail/refuse.h"
#include "sim/imaging.h"

namespace motes::sim {
namespace {

using detail::refuse, detail::require_at_least_0, detail::require_positive;

constexpr double kMaxVoxels = 0x1p32;  // a voxel's number is one word of the random counter
constexpr double kMaxGrey = std::numeric_limits<std::uint16_t>::max();

}  // namespace

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
