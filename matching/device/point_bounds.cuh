#pragma once
/// detail::bounds_of for points in device memory.

#include "matching/detail/point_bounds.h"
#include "matching/device/arena.cuh"

namespace motes::matching::device {

/// Of both sides, in one round trip. O(rows + cols).
detail::PairOfBounds bounds_on_device(Arena& arena, const detail::GeometricEntries& entries);

}  // namespace motes::matching::device
