#pragma once
/// What a detector would make of true tracks, without images: positions with noise, gaps and clutter.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/sim/motion.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/track_set.h>

namespace motes::sim {

/// What two spots that cannot be told apart become.
enum class MergeInto : std::uint8_t {
  mean,     ///< their mean position
  brighter  ///< the one that is brighter; every particle has a random brightness of its own
};

struct FaultOptions {
  Vec3 noise_um{0, 0, 0};      ///< standard deviation of the localisation error
  double miss = 0;             ///< probability that a spot is missed in a frame, in [0, 1]
  double blink_on_s = 0;       ///< mean time a particle stays visible; 0: no blinking
  double blink_off_s = 0;      ///< mean time it stays dark then
  double false_per_frame = 0;  ///< mean number of false detections, uniform in the box
  double merge_um = 0;         ///< spots nearer than this are one; 0: never
  MergeInto merge_into = MergeInto::mean;
};

/// Throws UsageError naming the key (faults.*) of the first option that makes no sense.
void check_options(const FaultOptions& faults);

/// One true particle behind a detection.
struct Origin {
  std::int64_t detection = 0;  ///< index in the frame's detections
  std::int64_t track = -1;     ///< index in the truth; -1: a false detection
};

struct Observation {
  std::vector<Detections> frames;            ///< [frames], also empty ones; radius, intensity, quality empty
  std::vector<std::vector<Origin>> origins;  ///< [frames] by rising detection; several for merged spots
};

/// Detections of the truth with faults. First which particles are seen (miss, blink), then merging (whatever
/// is linked by distances below merge_um becomes one detection), then noise, then false detections; last, the
/// order within a frame is shuffled, so that it says nothing about who is who. Positions may leave the box by
/// their noise. Frames are numbered from 0 to motion.frames - 1, their times are the true ones. The same bits
/// for any thread count, and without faults exactly the true positions. Expected O(points).
Observation observe(const Execution& execution, const TrackSet& truth, const MotionOptions& motion,
                    const FaultOptions& faults);

/// Fills truth.detection: the detection that each true point made, -1 none.
void note_detections(const Observation& observation, TrackSet& truth);

}  // namespace motes::sim
