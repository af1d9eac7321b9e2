#pragma once
/// The certificate's pass over all pairs of points, most of which the tree skips.

#include <motes/base/gpu/arena.cuh>

#include "matching/assignment/canonical/canonical_form.cuh"

namespace motes::matching::device {

/// Takes the least (row << 32 | col) of all pairs with u_i + v_j > c_ij into *least. Everything on the
/// device; u and v may be anything. A tree of the column points says which of them a row can pass over: it is
/// checked here, point by point and box by box, before it is believed, and walked by code that shares nothing
/// with the solvers'. O(n log n) where duals are those of a near optimum; a wrong answer may cost more.
void find_infeasible_points(gpu::Arena& arena, const GeometricEntries& entries, const Cost* u, const Cost* v,
                            unsigned long long* least);

}  // namespace motes::matching::device
