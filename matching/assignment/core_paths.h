#pragma once
/// Shortest augmenting paths on the few edges of a matrix that matter: how `jv` solves large dense and
/// geometric problems.

#include "matching/detail/canonical.h"

namespace motes::matching::detail {

/// Exact. One pass over the matrix picks a core of about `wanted` cheap pairs a row; then rounds of a sparse
/// solve and a check of the rows that the core's bound does not already prove (see core_paths.cpp). Memory
/// O(rows + cols + core). Falls back to solve_by_dense_paths where the core grows past a quarter of
/// the matrix. Stats: those of the sparse solves, summed, but phases = rounds of solving and checking;
/// seconds: selection, solve, pricing.
template <class Entries>
Solution solve_by_core_paths(const Execution& execution, const Canonical<Entries>& problem,
                             const Start& start, Offset wanted = 64);

}  // namespace motes::matching::detail
