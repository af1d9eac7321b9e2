#pragma once
/// A linking gate from the data, for users who did not give one.

#include <optional>
#include <span>

#include "tracking/execution.h"
#include "tracking/types/detections.h"

namespace motes::tracking {

struct GateEstimate {
  double gate_um = 0;
  double displacement_um = 0;  ///< typical (median) frame-to-frame displacement
  double spacing_um = 0;       ///< typical (median) nearest-neighbour distance within a frame
  /// displacement / spacing; above about .5 no linker's answer deserves trust, and users are told so.
  double ratio() const { return spacing_um > 0 ? displacement_um / spacing_um : 0; }
};

/// From mutual nearest neighbours of a sample of consecutive frames; none where no two consecutive frames
/// have detections.
std::optional<GateEstimate> estimate_gate(const Execution& execution, std::span<const Detections> frames);

}  // namespace motes::tracking
