#pragma once
/// The assignment of a series as a sparse problem with integer costs.

#include <string>
#include <vector>

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/problem.h>
#include <motes/tracking/series_assignment.h>

namespace motes::tracking {

/// Costs in nats of detections without a link on a side, or not used.
struct FreeCosts {
  std::vector<double> end, birth, clutter;  ///< [points]
};

/// `frames_before`: frames before the first one, if the points are a part of a longer series.
FreeCosts free_costs(const SeriesPoints& points, const SeriesModel& model, std::int32_t frames_before = 0);

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
