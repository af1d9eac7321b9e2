#pragma once
/// The CUDA form of `jv`, without CUDA types. Throws ResourceError without a device.

#include <motes/matching/assignment_solver.h>

#include "matching/assignment/sparse/search_settings.h"

namespace motes::matching::device {

/// About the number of pairs per row of a matrix's first core.
inline constexpr int kCorePairs = 48;

/// `settings` are for graphs.
Matching solve_by_cores(const Execution& execution, const CostsView& problem, const Start& start,
                        int wanted = kCorePairs, const SearchSettings& settings = {});

/// AssignmentSolver::solve_for_partners for a graph in device memory.
Matching partners_by_sparse_paths(const Execution& execution, const CostsView& problem);

}  // namespace motes::matching::device
