#pragma once
/// The search for alternatives of other optima (matching/ties.cu), for answers in device memory.

#include <motes/base/gpu/arena.cuh>

#include "matching/assignment/device_problem.h"

namespace motes::matching::detail {

/// An optimal matching and optimal duals in device memory.
struct DeviceOptimum {
  const Index *row_to_col = nullptr, *col_to_row = nullptr;  ///< [rows], [cols]; -1 = free
  const Cost *u = nullptr, *v = nullptr;                     ///< [rows], [cols]
};

/// As alternatives_on_device. Takes memory of the arena behind what is in use.
Alternatives alternatives_of(gpu::Arena& arena, const CostsView& problem, const DeviceOptimum& optimum);

}  // namespace motes::matching::detail
