#include "matching/assignment/jonker_volgenant.h"

#include "matching/assignment/core_paths.h"
#include "matching/assignment/dense_paths.h"
#include "matching/assignment/jonker_volgenant_device.h"
#include "matching/assignment/sparse_paths.h"
#include "matching/detail/canonical.h"

namespace motes::matching {
namespace {

/// From this many columns on a core of 64 pairs a row is small beside the matrix.
constexpr Index kCoreCols = 512;

}  // namespace

Matching JonkerVolgenant::run(const Execution& execution, const CostsView& problem,
                              const Start& start) const {
  if (execution.backend == Backend::cuda) return device::solve_by_cores(execution, problem, start);
  detail::require_cpu(execution, problem, "jv");
  return detail::solve_canonical(problem, [&]<class Entries>(const detail::Canonical<Entries>& canonical) {
    if constexpr (std::is_same_v<Entries, detail::SparseEntries>)
      return detail::solve_by_sparse_paths(execution, canonical, start);
    else if (canonical.cols >= kCoreCols)
      return detail::solve_by_core_paths(execution, canonical, start);
    else
      return detail::solve_by_dense_paths(canonical, start);
  });
}

#if !MOTES_HAS_CUDA
namespace device {
Matching solve_by_cores(const Execution&, const CostsView&, const Start&, int) {
  throw ResourceShortage("jv: no GPU: this build has no CUDA; use the cpu back end");
}
}  // namespace device
#endif

}  // namespace motes::matching
