#pragma once
/// A linking gate from the data, for users who did not give one.

#include <optional>
#include <span>

#include "tracking/execution.h"
#include "tracking/types/detections.h"

namespace motes::tracking {

struct GateEstimate {
  double gate_um = 0;
  double displacement_um = 0;  ///< median displacement between mutual nearest neighbours of successive frames
  double spacing_um =
      0;  ///< median nearest-neighbour distance within a frame; 0 where frames hold one particle
  /// displacement / spacing; above kUntrustworthyRatio links deserve little trust, and users are told so.
  double ratio() const { return spacing_um > 0 ? displacement_um / spacing_um : 0; }
};

inline constexpr double kUntrustworthyRatio = 0.5;

/// gate = 2.5 x the 95th percentile of those displacements, but at least 0.1 x the spacing and at most 0.92 x
/// the 90th percentile of nearest-neighbour distances: wide enough for the tail of the motion, and no wider
/// than well separated neighbours stand apart (clutter would pull a median down), where mutual neighbours
/// stop being the same particle. From at most 24 pairs spread over the series, 4096 detections of each; O(N
/// log N) a pair. None where no two successive frames have detections.
std::optional<GateEstimate> estimate_gate(const Execution& execution, std::span<const Detections> frames);

}  // namespace motes::tracking
