/// The two variants as solvers: the choice of CPU or GPU, and of the form of the entries.

#include "matching/papers/hungarian/hungarian.h"

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/papers/hungarian/alternating_tree.h"
#include "matching/papers/hungarian/classical.h"
#include "matching/papers/hungarian/device_hungarian.h"

namespace motes::matching {

Matching Hungarian::run(const Execution& execution, const CostsView& problem, const Start& start) const {
  if (execution.backend == Backend::cuda) return device::solve_by_covers(execution, problem, start);
  detail::require_cpu(execution, problem, "hungarian");
  return detail::solve_canonical(execution, problem, [&](const auto& canonical) {
    return detail::solve_by_covers(execution, canonical, start);
  });
}

Matching HungarianTree::run(const Execution& execution, const CostsView& problem, const Start& start) const {
  if (execution.backend == Backend::cuda) return device::solve_by_trees(execution, problem, start);
  detail::require_cpu(execution, problem, "hungarian-tree");
  return detail::solve_canonical(execution, problem, [&](const auto& canonical) {
    return detail::solve_by_trees(execution, canonical, start);
  });
}

#if !MOTES_HAS_CUDA
namespace device {
Matching solve_by_covers(const Execution&, const CostsView&, const Start&) {
  throw ResourceError("hungarian: no GPU: this build has no CUDA; use the cpu back end");
}
Matching solve_by_trees(const Execution&, const CostsView&, const Start&) {
  throw ResourceError("hungarian-tree: no GPU: this build has no CUDA; use the cpu back end");
}
}  // namespace device
#endif

}  // namespace motes::matching
