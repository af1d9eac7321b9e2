#include "matching/assignment/hungarian.h"

#include "matching/assignment/hungarian_tree.h"
#include "matching/detail/canonical.h"

namespace motes::matching {

Matching HungarianTree::run(const Execution& execution, const CostsView& problem, const Start& start) const {
  detail::require_cpu(execution, problem, "hungarian-tree");
  return detail::solve_canonical(problem, [&](const auto& canonical) {
    return detail::solve_by_trees(execution, canonical, start);
  });
}

}  // namespace motes::matching
