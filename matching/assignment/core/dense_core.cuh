#pragma once
/// Cores of matrices on the GPU (core_solver.cuh): the interface, without the kernels.

#include "matching/assignment/canonical/canonical_form.cuh"

namespace motes::matching::device::core {

/// Exact; entries in device memory. The first core has about `wanted` pairs a row, at most 64. Defined for
/// int32, int64, float and double.
template <class T>
detail::Solution solve_dense(gpu::Arena& arena, const CanonicalSides& sides,
                             const DeviceCanonical<DenseEntries<T>>& p, const Start& start, int wanted);

}  // namespace motes::matching::device::core
