#pragma once
/// detail::bounds_of for points in device memory.

#include <motes/base/gpu/arena.cuh>

#include "matching/points/point_bounds.h"

namespace motes::matching::device {

/// The bounds of both sides, in one round trip. O(rows + cols).
detail::PairOfBounds bounds_on_device(gpu::Arena& arena, const detail::GeometricEntries& entries);

}  // namespace motes::matching::device
