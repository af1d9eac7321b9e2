#pragma once
/// Warnings about data and settings that are likely to give wrong results: lines for Console::warn.

#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/motion_analysis.h>
#include <motes/tracking/score_tracks.h>
#include <motes/tracking/track_set.h>

#include "app/report.h"

namespace motes::app {

/// A gate that was given and is shorter than what particles typically move. `unit` may be empty.
std::vector<std::string> gate_warnings(double gate_um, const tracking::GateEstimate& estimate,
                                       const std::string& unit);

/// Frames without detections, between frames that have some.
std::vector<std::string> frame_warnings(const std::vector<FrameSummary>& frames);

/// Where a hundredth of the points or more lie exactly where another point of their frame does.
std::vector<std::string> repeat_warnings(std::size_t repeats, std::size_t points);

/// Most tracks are a single point.
std::vector<std::string> track_warnings(const TrackSet& tracks);

/// A gate longer than the distance of neighbouring true particles. Where few links are right, but more than
/// twice as many are if the found tracks' frames are counted from one earlier or later, or their coordinates
/// scaled to the true ones' spread.
std::vector<std::string> score_warnings(const Execution& execution, const TrackSet& truth,
                                        const TrackSet& found, const Scores& scores);

/// What forbids to take figures of motion at their word: few tracks or none, steps that go the same way.
std::vector<std::string> motion_warnings(const tracking::MotionFigures& motion,
                                         const tracking::AnalysisOptions& options);

}  // namespace motes::app
