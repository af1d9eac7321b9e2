#pragma once
/// Linking with the configuration's settings: the gate, all frame pairs or the whole series, progress and
/// warnings.

#include <optional>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/confidence.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/gate.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/linker.h>
#include <motes/tracking/series_links.h>

#include "app/console.h"
#include "app/options/config.h"
#include "app/run/check_points.h"

namespace motes::app {

struct GateChoice {
  tracking::Gate
      gate;  ///< not bounded: no two consecutive frames have detections, so there is nothing to link
  std::optional<tracking::GateEstimate> estimate;  ///< from the data, even if a gate was given
  bool series = false;                             ///< all frames are linked at once
};

/// The gate from linking.gate_um, linking.max_speed_um_s or the data; prints it with the ratio of
/// displacement to spacing, and a warning if that is too large to trust any linking. If many points coincide
/// (`check`), the gate is estimated from distinct points. Throws UsageError if the speed needs a frame
/// interval that is unknown, InputError if points coincide and the configuration asks for greedy linking.
GateChoice choose_gate(const Execution& execution, const Config& config,
                       const std::vector<Detections>& frames, const PointCheck& check,
                       std::optional<double> dt_s, const std::string& unit, Console& console);

struct LinkedSeries {
  /// [detections of all frames], unless `series` is set: the index of the partner in the next frame, -1 none.
  std::vector<matching::Index> next;
  /// Of linking by pairs, without their `next`: those that the report lists, or all with output.pairs.
  std::vector<tracking::PairLinks> pairs;
  std::optional<tracking::SeriesLinks> series;     ///< all frames linked at once
  std::optional<tracking::Confidence> confidence;  ///< of the series' links
  std::int64_t cut = 0;  ///< links removed for a confidence below linking.min_confidence
  double seconds = 0;
};

/// Whether all frames are linked at once: by linking.scope or, for `auto`, by tracking::series_pays.
bool links_whole_series(const Config& config, const std::vector<Detections>& frames,
                        const std::optional<tracking::GateEstimate>& estimate);

/// Links every pair of consecutive frames, or all frames at once (then prints the model and every estimated
/// parameter). Throws Interrupted between pairs (or rounds), and as tracking::link_frames and
/// tracking::link_series do.
LinkedSeries link_series(const Execution& execution, const Config& config,
                         const std::vector<Detections>& frames, const GateChoice& choice,
                         const std::string& unit, Console& console);

/// The estimated parameters of a series' links, one per line: name, value and source.
std::vector<std::string> series_parameters(const tracking::SeriesLinks& links, const std::string& unit);
/// static, velocity, field or joint.
std::string model_name(tracking::MotionModel model);

}  // namespace motes::app
