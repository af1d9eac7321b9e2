#pragma once
/// Shortest augmenting paths on a sparse graph, one connected component at a time: the sparse half of `jv`.

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching::detail {

/// Exact. O(f * (m + n) log n) for the f rows that the row reduction leaves, within each component; the
/// components are shared out to the threads. Stats: components, largest_component (rows),
/// initial_assignments (kept from the start), rounds (row-reduction bids), augmentations (paths searched),
/// phases (columns settled by all searches); seconds: components, solve.
Solution solve_by_sparse_paths(const Execution& execution, const Canonical<SparseEntries>& problem,
                               const Start& start);

}  // namespace motes::matching::detail
