#pragma once
/// The certificate's check of all pairs of points, most of which the tree skips.

#include <motes/base/gpu/arena.cuh>

#include "matching/assignment/canonical/canonical_form.cuh"

namespace motes::matching::device {

/// Stores the least (row << 32 | col) of all pairs with u_i + v_j > c_ij in *least. All arrays are on the
/// device; u and v may have any values. A tree of the column points gives the points that a row can skip. It
/// is first checked, point by point and box by box, and is traversed by code that is independent of the
/// solvers'. O(n log n) for duals near an optimum; a wrong answer may take longer.
void find_infeasible_points(gpu::Arena& arena, const GeometricEntries& entries, const Cost* u, const Cost* v,
                            unsigned long long* least);

}  // namespace motes::matching::device
