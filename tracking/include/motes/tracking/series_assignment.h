#pragma once
/// All links of a series as one sparse assignment. Row i stands for the link out of detection i, column j for
/// the link into detection j. An edge i -> j links two detections over one or more frames, and the edge i ->
/// i says that detection i is false. A free row is the end of a track, a free column its start. Any exact
/// assignment solver can solve it, and its certificate proves the optimum of the whole series.

#include <functional>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>
#include <motes/tracking/series_model.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// Candidate links, grouped by their earlier detection.
struct SeriesCandidates {
  std::vector<matching::Offset> row_offsets;  ///< [points + 1]
  std::vector<matching::Index> to;            ///< [candidates] later detection, rising within a row
  std::vector<matching::Index> from;          ///< [candidates] earlier detection
  std::int64_t size() const { return static_cast<std::int64_t>(to.size()); }
};

/// All pairs within the model's reach over 1 to `lags` frames. O(points + candidates). Throws ResourceError
/// if they do not fit into memory.
SeriesCandidates series_candidates(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model, int lags);

/// The likely ones among series_candidates. For each detection these are the `most` most likely within `nats`
/// of its most likely one, and up to 32 more that are as likely as the last of them; also the links of
/// `keep`, unless it is empty. Time: at most O(points x (pairs within reach + most)), usually far less;
/// memory: O(points x most).
SeriesCandidates likely_candidates(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model, int lags,
                                   const SeriesLinking& keep, double nats, std::size_t most);

/// [candidates] negative log-likelihood of each candidate under the model, in nats. `occlusion`: which gaps
/// are expected; null: not known. O(candidates).
std::vector<double> candidate_costs(const Execution& execution, const SeriesPoints& points,
                                    const Prediction& prediction, const SeriesModel& model,
                                    const SeriesCandidates& candidates, const Occlusion* occlusion = nullptr);

struct SeriesSolution {
  SeriesLinking linking;
  std::vector<char> used;  ///< [points] 0: false detection
  std::int64_t edges = 0;  ///< of the assignment problem, including edges i -> i
  std::int64_t false_detections = 0;
  double objective = 0;  ///< in nats
  bool verified = false;
  std::string solver;
};

/// One nat is 2^kNatBits steps before the tie bits. The lowest kSeriesTieBits bits of a cost are a hash of
/// the two positions, which breaks ties.
inline constexpr int kNatBits = 16, kSeriesTieBits = 12;

/// The most likely linking, exactly (to 2^-16 nats): candidates with their costs, and ends, starts and false
/// detections with the costs of the model. `verify`: check the certificate; a failure throws
/// std::logic_error.
SeriesSolution solve_series(const Execution& execution, const SeriesPoints& points, const SeriesModel& model,
                            const SeriesCandidates& candidates, const std::vector<double>& costs,
                            const std::string& solver, bool verify);

/// The same, but each free row and each free column costs `free_cost`, and no detection is false: for costs
/// that are -log odds.
SeriesSolution solve_odds(const Execution& execution, const SeriesPoints& points,
                          const SeriesCandidates& candidates, const std::vector<double>& costs,
                          double free_cost, const std::string& solver, bool verify);

}  // namespace motes::tracking
