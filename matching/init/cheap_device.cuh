#pragma once
/// `cheap` on the GPU: every free row takes its first free column, as if in the order of row numbers.

#include "matching/cardinality/two_sided_device_graph.cuh"
#include "matching/init/visit_order.h"

namespace motes::matching::device {

/// Extends the given matching (`warm`: it has pairs), so that it is maximal; rows are visited in the given
/// order; both arrays are on the device, -1 = free. Always returns the same pairs as the CPU's start on one
/// thread. O(rows + cols + nnz) if rows reach their columns in about the same order, else a row may search
/// its columns again when it is displaced. `settled`, on the device: if it is not 0, there is another start
/// already, and nothing is done.
void cheap_start(const gpu::Arena& arena, const DeviceSides& sides, Offset edges, bool warm,
                 detail::VisitOrder order, Index* row_to_col, Index* col_to_row,
                 const int* settled = nullptr);

}  // namespace motes::matching::device
