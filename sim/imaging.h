#pragma once
/// Fluorescence volumes of tracks. docs/simulation.md states the model.

#include <cstdint>

#include "sim/motion.h"
#include "tracking/execution.h"
#include "tracking/types/geometry.h"
#include "tracking/types/track_set.h"
#include "tracking/types/volume_frame.h"

namespace motes::sim {

struct ImagingOptions {
  Vec3 voxel_um{0.1, 0.1, 0.2};
  Vec3 psf_sigma_um{0.15, 0.15, 0.3};
  double background = 10;  ///< mean photons a voxel
  double snr = 7;          ///< (peak - background) / sqrt(peak), peak included in photons
  double offset = 100;     ///< camera offset in grey levels
  double read_noise = 0;   ///< standard deviation in grey levels
};

/// Throws UsageError naming the key (imaging.*, simulation.*) of the first option that makes no sense.
void check_options(const MotionOptions& motion, const ImagingOptions& imaging);

/// Shape of every rendered frame: box / voxel + 1, rounded down.
Shape3 frame_shape(const MotionOptions& motion, const ImagingOptions& imaging);

/// Volume of frame t of the truth (u16): the box sampled at voxel centres index * voxel_um. A spot is a
/// Gaussian integrated over each voxel, cut off at four sigma; then Poisson photons, offset, read noise,
/// rounding and clamping to [0, 65535]. The same for any thread count. O(voxels + spots * voxels of a spot).
VolumeFrame render_frame(const Execution& execution, const TrackSet& truth, std::int32_t t,
                         const MotionOptions& motion, const ImagingOptions& imaging);

/// Peak photons above background for an SNR as the challenge defines it: the p > 0 with p / sqrt(p + b) =
/// snr.
double peak_for_snr(double snr, double background);

}  // namespace motes::sim
