/// Instantiates dense_core.cuh for matrices of floating-point numbers.

#include "matching/assignment/core/dense_kernels.cuh"

namespace motes::matching::device::core {

template detail::Solution solve_dense(gpu::Arena&, const CanonicalSides&,
                                      const DeviceCanonical<DenseEntries<float>>&, const Start&, int);
template detail::Solution solve_dense(gpu::Arena&, const CanonicalSides&,
                                      const DeviceCanonical<DenseEntries<double>>&, const Start&, int);

}  // namespace motes::matching::device::core
