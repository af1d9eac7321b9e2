#pragma once
/// All links of a series as one sparse assignment. Row i is "what follows detection i", column j "what comes
/// before detection j": an edge i -> j links them over one or more frames, the edge i -> i says that the
/// detection is false, a free row is the end of a track and a free column its begin. Any exact assignment
/// solver serves, and its certificate proves the whole series.

#include <functional>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>
#include <motes/tracking/series_model.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// Candidate links, by earlier detection.
struct SeriesCandidates {
  std::vector<matching::Offset> row_offsets;  ///< [points + 1]
  std::vector<matching::Index> to;            ///< [candidates] rising within a row
  std::vector<matching::Index> from;          ///< [candidates]
  std::int64_t size() const { return static_cast<std::int64_t>(to.size()); }
};

/// All pairs within the model's reach over 1 to `lags` frames. O(points + candidates). Throws ResourceError
/// for more than memory holds.
SeriesCandidates series_candidates(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model, int lags);

/// Of those, for each detection only the `most` likeliest that are within `nats` of its likeliest one, and up
/// to 32 that are as likely as the last of these; also the links of `keep`, unless it is empty. In time
/// O(points x (pairs within reach + most)), mostly far less, and in memory O(points x most).
SeriesCandidates likely_candidates(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model, int lags,
                                   const SeriesLinking& keep, double nats, std::size_t most);

/// -log-likelihoods of the candidates under the model. `occlusion`, where known, tells which gaps are
/// expected.
std::vector<double> candidate_costs(const Execution& execution, const SeriesPoints& points,
                                    const Prediction& prediction, const SeriesModel& model,
                                    const SeriesCandidates& candidates, const Occlusion* occlusion = nullptr);

struct SeriesSolution {
  SeriesLinking linking;
  std::vector<char> used;  ///< [points] 0: taken to be false
  std::int64_t edges = 0;  ///< of the assignment problem, self edges included
  std::int64_t false_detections = 0;
  double objective = 0;  ///< in nats
  bool verified = false;
  std::string solver;
};

/// One nat in steps of the integer costs; the low bits of a cost are a hash of the two positions.
inline constexpr int kNatBits = 16, kSeriesTieBits = 12;

/// The most likely linking, exactly (to 2^-16 nats): candidates with their costs, ends, begins and false
/// detections as the model has them. `verify`: the certificate is checked; a failure throws std::logic_error.
SeriesSolution solve_series(const Execution& execution, const SeriesPoints& points, const SeriesModel& model,
                            const SeriesCandidates& candidates, const std::vector<double>& costs,
                            const std::string& solver, bool verify);

/// The same with one cost for a free row and one for a free column everywhere, and no false detections: for
/// costs that are -log odds.
SeriesSolution solve_odds(const Execution& execution, const SeriesPoints& points,
                          const SeriesCandidates& candidates, const std::vector<double>& costs,
                          double free_cost, const std::string& solver, bool verify);

}  // namespace motes::tracking
