#pragma once
/// The CUDA forms of the Hungarian solvers, without CUDA types. Without a device they throw ResourceError.

#include <motes/matching/assignment_solver.h>

namespace motes::matching::device {

Matching solve_by_covers(const Execution& execution, const CostsView& problem, const Start& start);
Matching solve_by_trees(const Execution& execution, const CostsView& problem, const Start& start);

}  // namespace motes::matching::device
