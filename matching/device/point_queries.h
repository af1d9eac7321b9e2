#pragma once
/// What the trees of points on a device answer, for callers that do not compile with nvcc.

#include <optional>

#include "matching/solver.h"

namespace motes::matching {

/// The pairs that a gate allows, found on the device, as a graph in host memory with columns ascending;
/// nothing where they are more than `most_per_row` a row on average, or more than 8 times that in one row.
/// Unmatched costs are copied (host views). Throws ResourceShortage without a device. O((rows + pairs) log
/// cols).
std::optional<SparseCosts> gated_pairs(const Execution& execution, const GeometricCostsView& problem,
                                       int most_per_row);

}  // namespace motes::matching
