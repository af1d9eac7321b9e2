#pragma once
/// Particle motion with ground truth, and fluorescence volumes of it. docs/simulation.md states the model.

#include <cstdint>

#include "tracking/execution.h"
#include "tracking/types/geometry.h"
#include "tracking/types/track_set.h"
#include "tracking/types/volume_frame.h"

namespace motes::sim {

/// The correlated/biased random walk of Vasconcelos & Rosenhahn 2009, section 6: each step's velocity mixes
/// the previous direction (weight `persistence`) and a random bias vector (weight 1 - persistence).
struct MotionOptions {
  std::int64_t particles = 200;
  std::int32_t frames = 20;
  double dt_s = 1;
  Vec3 box_um{25.6, 25.6, 12.8};
  double persistence = 0.8;    ///< in [0, 1]; 0: directions independent, 1: straight lines
  double speed_um_s = 0.5;     ///< length of every step / dt_s
  double min_distance_um = 0;  ///< between particles of the first frame
  std::uint64_t seed = 1;
};

struct ImagingOptions {
  Vec3 voxel_um{0.1, 0.1, 0.2};
  Vec3 psf_sigma_um{0.15, 0.15, 0.3};
  double background = 10;  ///< mean photons a voxel
  double snr = 7;          ///< (peak - background) / sqrt(peak), peak included in photons
  double offset = 100;     ///< camera offset in grey levels
  double read_noise = 0;   ///< standard deviation in grey levels
};

/// Throws UsageError naming the key (simulation.*) of the first option that makes no sense.
void check_options(const MotionOptions& motion);

/// Throws UsageError naming the key (imaging.*, simulation.*) of the first option that makes no sense.
void check_options(const MotionOptions& motion, const ImagingOptions& imaging);

/// True tracks, one a particle, all with all frames (`detection` -1); particles reflect at the box. Positions
/// lie in [0, box]. Throws UsageError naming the key for nonsense. The same for any thread count, and on
/// every machine with IEEE doubles. O(particles * frames).
TrackSet simulate_motion(const Execution& execution, const MotionOptions& options);

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
