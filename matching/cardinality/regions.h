#pragma once
/// reorder (reorder.h) on several threads.

#include "matching/cardinality/reorder.h"

namespace motes::matching::detail {

/// As reorder, for graphs of fewer than 2^32 edges. Each thread's region has a range of the new numbers.
std::optional<Reordered> reorder_in_regions(const TwoSidedGraph& graph, int threads);

}  // namespace motes::matching::detail
