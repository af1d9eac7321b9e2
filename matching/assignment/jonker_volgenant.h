#pragma once
/// `jv`: exact sparse assignment by shortest augmenting paths, one connected component at a time.
///
/// Source: Jonker & Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
/// problems", Computing 38 (1987), for the two stages (augmenting row reduction, augmentation). Differences:
/// unmatched costs are part of the problem (a row may end its path by staying free), components are found
/// first and solved apart, the column reduction is dropped (it needs a column-wise copy and does not pay on
/// gated graphs), and the row reduction has a budget instead of a number of passes.

#include "matching/solver.h"

namespace motes::matching {

/// Complexity: O(f * (m + n) log n) for the f rows that the row reduction leaves, within each component.
/// Stats: components, largest_component (rows), rounds (row-reduction bids), augmentations (paths searched),
/// phases (columns settled by all searches); seconds: components, solve.
/// Beyond check_problem's faults, throws std::invalid_argument when vertices must be matched and costs times
/// vertices pass 2^60, for then duals could overflow.
class JonkerVolgenant final : public AssignmentSolver {
 public:
  Matching solve(const Execution& execution, const SparseCostsView& problem) const override;
};

}  // namespace motes::matching
