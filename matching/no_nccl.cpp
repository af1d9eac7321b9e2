/// Stand-ins for the solvers over several ranks with a GPU each in a build without NCCL: each throws, on
/// every rank, an error that tells what the build lacks.

#include <motes/base/errors.h>

#include "matching/assignment/core/distributed_core.h"
#include "matching/papers/hungarian/solve_distributed.h"

namespace motes::matching::device {
namespace {

detail::Solution no_nccl(Communicator& ranks) {
  ranks.agreed([] {
    throw ResourceError(
        "several ranks on GPUs need CUDA and NCCL, which this build lacks (MOTES_NCCL); use the cpu back "
        "end");
  });
  return {};
}

}  // namespace

template <class T>
detail::Solution solve_distributed_core(Communicator& ranks, const Execution&, const detail::DenseEntries<T>&,
                                        const detail::DenseEntries<T>*, Index,
                                        const DistributedDeviceCalls&) {
  return no_nccl(ranks);
}
detail::Solution solve_distributed_points(Communicator& ranks, const Execution&,
                                          const detail::CanonicalSides&, const detail::GeometricEntries&) {
  return no_nccl(ranks);
}
template <class Entries>
detail::Solution solve_part(Communicator& ranks, const Execution&, bool, const detail::CanonicalSides&,
                            const Entries&, Index) {
  return no_nccl(ranks);
}

#define MOTES_INSTANTIATE(Entries)                                                                           \
  template detail::Solution solve_part(Communicator&, const Execution&, bool, const detail::CanonicalSides&, \
                                       const Entries&, Index);
MOTES_INSTANTIATE(detail::SparseEntries)
MOTES_INSTANTIATE(detail::DenseEntries<std::int32_t>)
MOTES_INSTANTIATE(detail::DenseEntries<std::int64_t>)
MOTES_INSTANTIATE(detail::DenseEntries<float>)
MOTES_INSTANTIATE(detail::DenseEntries<double>)
MOTES_INSTANTIATE(detail::GeometricEntries)
#undef MOTES_INSTANTIATE

#define MOTES_INSTANTIATE(T)                                                                           \
  template detail::Solution solve_distributed_core(                                                    \
      Communicator&, const Execution&, const detail::DenseEntries<T>&, const detail::DenseEntries<T>*, \
      Index, const DistributedDeviceCalls&);
MOTES_INSTANTIATE(std::int32_t)
MOTES_INSTANTIATE(std::int64_t)
MOTES_INSTANTIATE(float)
MOTES_INSTANTIATE(double)
#undef MOTES_INSTANTIATE

}  // namespace motes::matching::device
