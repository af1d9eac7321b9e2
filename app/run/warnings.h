#pragma once
/// Warnings about data and settings that are likely to give wrong results: lines for Console::warn.

#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/motion_analysis.h>
#include <motes/tracking/score_tracks.h>
#include <motes/tracking/track_set.h>

#include "app/report/report.h"

namespace motes::app {

/// If a given gate is shorter than the typical displacement. `unit` may be empty.
std::vector<std::string> gate_warnings(double gate_um, const tracking::GateEstimate& estimate,
                                       const std::string& unit);

/// If frames have no detections while others have some.
std::vector<std::string> frame_warnings(const std::vector<FrameSummary>& frames);

/// If at least a hundredth of the points coincide with another point of their frame.
std::vector<std::string> repeat_warnings(std::size_t repeats, std::size_t points);

/// If most tracks are a single point.
std::vector<std::string> track_warnings(const TrackSet& tracks);

/// If the gate is longer than the distance of neighbouring true particles. If few links are right, but more
/// than twice as many are after frames are shifted by one, or coordinates scaled to the spread of the true
/// ones.
std::vector<std::string> score_warnings(const Execution& execution, const TrackSet& truth,
                                        const TrackSet& found, const Scores& scores);

/// If the figures of motion are uncertain: few tracks or none, or steps with similar directions.
std::vector<std::string> motion_warnings(const tracking::MotionFigures& motion,
                                         const tracking::AnalysisOptions& options);

}  // namespace motes::app
