#pragma once
/// The steps of link_confidence, for its tests and benchmarks.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/confidence.h>

namespace motes::tracking::detail {

/// log odds of each link: [points], NaN where there is none.
std::vector<double> link_log_odds(const Execution& execution, const SeriesLinks& links);

/// From links' log odds and whether they are right: shares in bins of log odds, each filled up by a logistic
/// line through all of them, made rising (pool adjacent violators). O(links).
Calibration calibrate(const std::vector<std::pair<double, bool>>& links);

/// A series whose links are known.
struct SimulatedSeries {
  std::vector<Detections> frames;
  std::vector<std::vector<std::int64_t>> particle;  ///< [frames][detections], -1 false
};

/// A series like the linked one: it begins at detections of the first frame (those around its middle where
/// there are too many), and moves, is missed, ends, begins and is cluttered as the found tracks are.
SimulatedSeries simulate_like(const Execution& execution, const SeriesLinks& links, std::size_t detections,
                              std::uint64_t seed);

}  // namespace motes::tracking::detail
