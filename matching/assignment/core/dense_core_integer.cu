/// Instantiates dense_core.cuh for matrices of integers.

#include "matching/assignment/core/dense_kernels.cuh"

namespace motes::matching::device::core {

template detail::Solution solve_dense(gpu::Arena&, const CanonicalSides&,
                                      const DeviceCanonical<DenseEntries<std::int32_t>>&, const Start&, int);
template detail::Solution solve_dense(gpu::Arena&, const CanonicalSides&,
                                      const DeviceCanonical<DenseEntries<std::int64_t>>&, const Start&, int);

}  // namespace motes::matching::device::core
