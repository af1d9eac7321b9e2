#pragma once
/// Shortest augmenting paths on a core, the few edges of a matrix that matter: how `jv` solves large dense
/// and geometric problems.

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/core/selection.h"

namespace motes::matching::detail {

/// How many pairs of each row and of each column a core starts with.
struct CoreSize {
  Offset of_rows = 64;
  Index of_columns = 0;
};
/// What suits a problem of this kind.
template <class Entries>
CoreSize core_size(const CanonicalSides& sides);

/// Exact. From a core that select_core made, rounds of a sparse solve and a check of the rows that the core's
/// bounds do not already prove (see core_solver.cpp). Memory O(rows + cols + core). Falls back to
/// solve_by_dense_paths where the core grows past a quarter of the matrix, or, square matrices, where neither
/// the selection's prices nor annealed ones (annealed_prices.h) lead to an end soon enough. Stats: those of
/// the sparse solves, summed, but phases = rounds of solving and checking; seconds: solve, pricing.
template <class Entries>
Solution solve_by_core_paths(const Execution& execution, const Canonical<Entries>& problem,
                             const Start& start, CoreSelection&& selection);

}  // namespace motes::matching::detail
