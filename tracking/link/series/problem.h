#pragma once
/// The assignment of a series as a sparse problem with integer costs.

#include <string>
#include <vector>

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/problem.h>
#include <motes/tracking/series_assignment.h>

namespace motes::tracking {

/// Costs in nats of detections without a link on a side, or on both.
struct FreeCosts {
  std::vector<double> end, birth, alone;  ///< [points]
  bool few = false;                       ///< see alone_cost
  /// Whether a detection that is left alone is false, rather than the only one of a track.
  bool is_false(std::size_t i) const;
};

/// Cost of a detection without links: it is false, or both the first and the last of a track. `few`: of few
/// frames (few_frames), where counts do not tell these apart, so that both probabilities are added; otherwise
/// the likelier one counts.
double alone_cost(double clutter, double end, double birth, bool few);

/// `few`: the series has few frames. `frames_before`: frames before the first one, if the points are a part
/// of a longer series.
FreeCosts free_costs(const SeriesPoints& points, const SeriesModel& model, bool few,
                     std::int32_t frames_before = 0);

/// The problem with candidates that can be in an optimum, and self edges (each the first of its row).
matching::SparseCosts series_problem(const Execution& execution, const SeriesPoints& points,
                                     const FreeCosts& free, const SeriesCandidates& candidates,
                                     const std::vector<double>& costs);

/// The optimum by the tie rule, with its duals. `verify`: check the certificate. `solver` is set to the name
/// of the solver that ran.
matching::Matching solve_problem(const Execution& execution, const matching::SparseCosts& problem,
                                 std::string& solver, bool verify, const matching::Start& start = {});

/// Converts steps of integer costs to nats.
double nats_of(double steps);

}  // namespace motes::tracking
