#pragma once
/// `jv` on the GPU for points: without a matrix, and without a pass over all pairs where geometry allows
/// it.

#include "matching/assignment/core/core_solver.cuh"

namespace motes::matching::device {

/// Solves by the loop of core_solver.cuh. Where the gate leaves few pairs the core holds them all; else it
/// begins with the nearest neighbours of every row and every column, and pricing walks a tree of the column
/// points with the highest price of each node. O(n log n) for each round where neighbours suffice; memory
/// O(rows + cols + core).
core::Outcome solve_by_point_cores(gpu::Arena& arena, const CanonicalSides& sides,
                                   const DeviceCanonical<GeometricEntries>& p, const Start& start);

}  // namespace motes::matching::device
