#pragma once
/// The series' assignment in windows of frames, for series too large for one problem.
///
/// A window decides for the detections of its first frames, its core, and looks some frames further, so that
/// what is decided depends on what comes later; the next window begins where the core ends. Detections that a
/// link into the next windows already leads to are not to be had there any more. Each window begins from the
/// column prices that the one before found for the frames both know: as prices only fall from there, links
/// that were decided stay the best under them.
///
/// Together the prices of all windows bound what any linking costs: where they agree at the seams the bound
/// is reached, and the linking is an optimum of the whole series, proven; else `gap` says by how much it may
/// miss it.

#include <cstdint>
#include <string>

#include <motes/base/execution.h>
#include <motes/tracking/series_assignment.h>

namespace motes::tracking {

struct WindowOptions {
  std::int64_t at_once = 0;  ///< detections of a window, at least those of one frame and of the frames beyond
  int lags = 1;
  double nats = 12;  ///< candidates, as likely_candidates
  std::size_t most = 20;
  std::string solver = "auto";
  bool verify = false;
};

struct WindowedSolution {
  SeriesSolution solution;
  std::int64_t candidates = 0;
  int windows = 0;
  double gap = 0;  ///< in nats: no linking costs less than the solution's objective less this
};

/// All links of the series; with one window as solve_series with likely_candidates. Memory: about 500 bytes a
/// detection of the largest window and 20 a detection of the series.
WindowedSolution solve_windows(const Execution& execution, const SeriesPoints& points,
                               const Prediction& prediction, const SeriesModel& model,
                               const SeriesLinking& keep, const WindowOptions& options);

}  // namespace motes::tracking
