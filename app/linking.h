#pragma once
/// From detections to tracks at the command level: which gate, all frame pairs, progress and warnings.

#include <optional>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/linker.h>

#include "app/config.h"
#include "app/console.h"

namespace motes::app {

struct Gate {
  std::optional<double> um;  ///< none: no two consecutive frames have detections, so there is nothing to link
  std::string source;        ///< the key it came from, or "estimated"
  std::optional<tracking::GateEstimate> estimate;
};

/// The gate from linking.gate_um, linking.max_speed_um_s or the data; prints it, with the displacement over
/// spacing ratio and a warning where that is too large to trust any linking. Throws UsageError where the
/// speed needs a frame interval that is not known.
Gate choose_gate(const Execution& execution, const Config& config, const std::vector<Detections>& frames,
                 std::optional<double> dt_s, const std::string& unit, Console& console);

struct LinkedSeries {
  std::vector<tracking::PairLinks> pairs;  ///< [frames - 1], none for no frames
  double seconds = 0;
};

/// Links every pair of consecutive frames. Throws Interrupted between pairs, and as tracking::link_frames
/// does.
LinkedSeries link_series(const Execution& execution, const Config& config,
                         const std::vector<Detections>& frames, const Gate& gate, Console& console);

}  // namespace motes::app
