#pragma once
/// Assignment with costs in doubles, by the exact solvers for integers.

#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>

namespace motes::tracking::detail {

/// Minimise the sum of the costs of matched pairs and of free rows and columns. All costs are >= 0 and
/// finite.
struct RealCosts {
  matching::BipartiteGraph graph;
  std::vector<double> cost;                ///< [nnz]
  std::vector<double> unmatched_row_cost;  ///< [rows]
  double unmatched_col_cost = 0;           ///< of every column
};

/// The column of each row, -1 free. Costs are rounded to multiples of a power of two, at most 2^-49 of the
/// largest, since the solver needs integers; callers add the distances again in doubles. If a matched edge
/// and free ends cost the same, the edge is matched: each edge costs one step less than its cost.
std::vector<matching::Index> assign(const Execution& execution, const RealCosts& problem);

/// The same if each row and column stands for several copies. Returns how many copies each edge matches,
/// [nnz]. One thread; see motes/matching/transportation.h.
std::vector<matching::Index> assign_copies(const RealCosts& problem,
                                           std::span<const matching::Index> row_copies,
                                           std::span<const matching::Index> col_copies);

}  // namespace motes::tracking::detail
