#pragma once
/// Solves the assignment of a series in windows of frames, for series too large for one problem.
///
/// A window decides the links from its first frames, its core. It contains some more frames, so that these
/// decisions take later detections into account. The next window begins where the core ends. Detections to
/// which a decided link leads are taken there. Each window starts with the column prices that the one before
/// found for shared frames. Prices only fall from there, so decided links stay optimal under them.
///
/// The prices of all windows together give a lower bound of the cost of every linking. If they agree at the
/// borders, the linking reaches the bound and is a proven optimum of the whole series. Otherwise `gap` is the
/// most by which it may exceed the optimum.

#include <cstdint>
#include <string>

#include <motes/base/execution.h>
#include <motes/tracking/series_assignment.h>

namespace motes::tracking {

struct WindowOptions {
  std::int64_t at_once = 0;  ///< detections of a window; at least one frame and those beyond it
  int lags = 1;
  double nats = 12;  ///< as for likely_candidates
  std::size_t most = 20;
  std::string solver = "auto";
  bool verify = false;
};

struct WindowedSolution {
  SeriesSolution solution;
  std::int64_t candidates = 0;
  int windows = 0;
  double gap = 0;  ///< in nats: every linking costs at least the solution's objective minus this
};

/// All links of the series; with one window the same as solve_series with likely_candidates. Memory: about
/// 500 bytes per detection of the largest window and 20 per detection of the series.
WindowedSolution solve_windows(const Execution& execution, const SeriesPoints& points,
                               const Prediction& prediction, const SeriesModel& model,
                               const SeriesLinking& keep, const WindowOptions& options);

}  // namespace motes::tracking
