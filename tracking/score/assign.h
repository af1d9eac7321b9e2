#pragma once
/// Assignment with costs in doubles, through the project's exact solver.

#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>

namespace motes::tracking::detail {

/// minimise sum of matched costs + unmatched costs of free rows and columns. All costs >= 0 and finite.
struct RealCosts {
  matching::BipartiteGraph graph;
  std::vector<double> cost;                ///< [nnz]
  std::vector<double> unmatched_row_cost;  ///< [rows]
  double unmatched_col_cost = 0;           ///< of every column
};

/// The column of each row, -1 free. Costs are rounded to multiples of a power of two, at most 2^-49 of the
/// largest, so that the optimum is found in integers; callers sum the distances again in doubles. Where sums
/// of costs tie, a matched edge wins over leaving its row free: an edge counts one step less than it costs.
std::vector<matching::Index> assign(const Execution& execution, const RealCosts& problem);

/// The same where each row and column stands for copies: how many of them each edge matches, [nnz]. One
/// thread; as motes/matching/transportation.h.
std::vector<matching::Index> assign_copies(const RealCosts& problem,
                                           std::span<const matching::Index> row_copies,
                                           std::span<const matching::Index> col_copies);

}  // namespace motes::tracking::detail
