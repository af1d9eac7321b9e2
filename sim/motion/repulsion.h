#pragma once
/// Repulsion between soft particles.

#include <optional>
#include <vector>

#include "sim/motion/model.h"

namespace motes::sim::detail {

/// For every point the sum over its neighbours closer than `reach` of (reach - distance) / 2, directed away
/// from them: just enough to separate a pair. With a `period` (a box from 0 on that contains all points) also
/// across its walls, from the images of neighbours. Summed in the order of a grid of cells and then of the
/// points, so the result does not depend on the thread count. Expected O(points) unless they crowd.
std::vector<Vec3> overlap_pushes(const Execution& execution, const std::vector<Vec3>& points, double reach,
                                 const std::optional<Vec3>& period = std::nullopt);

}  // namespace motes::sim::detail
