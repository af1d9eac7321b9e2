#pragma once
/// The series' assignment as a sparse problem with integer costs, for those who solve it.

#include <string>
#include <vector>

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/problem.h>
#include <motes/tracking/series_assignment.h>

namespace motes::tracking {

/// What detections cost that are not linked on a side, or not used, in nats.
struct FreeCosts {
  std::vector<double> end, birth, clutter;  ///< [points]
};

/// `frames_before`: of a longer series that the points are a part of.
FreeCosts free_costs(const SeriesPoints& points, const SeriesModel& model, std::int32_t frames_before = 0);

/// Candidates that can be in an optimum, and the self edges (each the first of its row).
matching::SparseCosts series_problem(const Execution& execution, const SeriesPoints& points,
                                     const FreeCosts& free, const SeriesCandidates& candidates,
                                     const std::vector<double>& costs);

/// The one optimum that ties leave, with its duals; `verify`: its certificate is checked. `solver` is set to
/// the name of the one that is used.
matching::Matching solve_problem(const Execution& execution, const matching::SparseCosts& problem,
                                 std::string& solver, bool verify, const matching::Start& start = {});

/// Steps of the integer costs in nats.
double nats_of(double steps);

}  // namespace motes::tracking
