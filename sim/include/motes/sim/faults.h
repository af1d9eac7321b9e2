#pragma once
/// Detections of true tracks, as a detector with faults would find them: noise, misses, false positives,
/// merged spots. No images are involved.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/sim/motion.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/track_set.h>

namespace motes::sim {

/// The position of spots that cannot be resolved and become one detection.
enum class MergeInto : std::uint8_t {
  mean,     ///< their mean position
  brighter  ///< that of the brightest; every particle has a random brightness
};

struct FaultOptions {
  Vec3 noise_um{0, 0, 0};      ///< standard deviation of the localisation error
  double miss = 0;             ///< probability that a spot is missed in a frame, in [0, 1]
  double blink_on_s = 0;       ///< mean time a particle stays visible; 0: no blinking
  double blink_off_s = 0;      ///< mean time it then stays dark
  double false_per_frame = 0;  ///< mean number of false detections, uniform in the box
  double merge_um = 0;         ///< spots closer than this become one detection; 0: never
  MergeInto merge_into = MergeInto::mean;
};

/// Throws UsageError naming the key (faults.*) of the first invalid option.
void check_options(const FaultOptions& faults);

/// One true particle behind a detection.
struct Origin {
  std::int64_t detection = 0;  ///< index in the frame's detections
  std::int64_t track = -1;     ///< index in the truth; -1: a false detection
};

/// Detections, and the true particles behind them.
struct Observation {
  std::vector<Detections> frames;            ///< [frames], empty ones too; radius, intensity, quality empty
  std::vector<std::vector<Origin>> origins;  ///< [frames] ordered by detection; merged spots have several
};

/// Detections of the truth, with faults applied in this order: missed and blinking particles; merging (a
/// chain of spots, each closer than merge_um to the next, becomes one detection); noise; false detections.
/// Finally the detections of each frame are shuffled, so that their order does not reveal identities. Noise
/// may move positions out of the box. Frames are numbered from 0 to motion.frames - 1 and have the true
/// times. The same bits for any thread count; without faults the positions are exactly the true ones.
/// Expected time O(points). Throws as check_options.
Observation observe(const Execution& execution, const TrackSet& truth, const MotionOptions& motion,
                    const FaultOptions& faults);

/// Fills truth.detection with the detection of each true point, -1 for none.
void note_detections(const Observation& observation, TrackSet& truth);

}  // namespace motes::sim
