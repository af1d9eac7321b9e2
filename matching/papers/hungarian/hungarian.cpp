/// The two variants as solvers, and their CPU forms with all rows and columns in one process. The searches
/// are in cover_search.h and tree_search.h; the CUDA forms (classical.cu, alternating_tree.cu) give the same
/// answers.

#include "matching/papers/hungarian/hungarian.h"

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/papers/hungarian/column_share.h"
#include "matching/papers/hungarian/cover_search.h"
#include "matching/papers/hungarian/device_hungarian.h"
#include "matching/papers/hungarian/initial_reduction.h"
#include "matching/papers/hungarian/row_share.h"
#include "matching/papers/hungarian/tree_search.h"

namespace motes::matching {
namespace {

using namespace detail;

/// The initial reduction, then search(canonical, threads, state, stats), which returns whether the problem is
/// feasible.
template <class Search>
Matching reduce_and_search(const Execution& execution, const CostsView& problem, const Start& start,
                           const Search& search) {
  return solve_canonical(execution, problem, [&](const auto& canonical) {
    const int threads = thread_count(execution);
    StartState state;
    Stats stats;
    const bool feasible =
        begin_hungarian(canonical, start, threads, state, stats) && search(canonical, threads, state, stats);
    return Solution{std::move(state.row_to_col), std::move(state.v), !feasible, std::move(stats)};
  });
}

}  // namespace

Matching Hungarian::run(const Execution& execution, const CostsView& problem, const Start& start) const {
  if (execution.backend == Backend::cuda) return device::solve_by_covers(execution, problem, start);
  require_cpu(execution, problem, "hungarian");
  return reduce_and_search(
      execution, problem, start,
      []<class Entries>(const Canonical<Entries>& canonical, int threads, StartState& state, Stats& stats) {
        RowShare<Entries> rows(canonical.entries, 0, state, threads, nullptr);
        return CoverSearch(canonical, state, rows, stats).run();
      });
}

Matching HungarianTree::run(const Execution& execution, const CostsView& problem, const Start& start) const {
  if (execution.backend == Backend::cuda) return device::solve_by_trees(execution, problem, start);
  require_cpu(execution, problem, "hungarian-tree");
  return reduce_and_search(
      execution, problem, start,
      []<class Entries>(const Canonical<Entries>& canonical, int threads, StartState& state, Stats& stats) {
        ColumnShare<Entries> columns(canonical.entries, 0, state, threads, nullptr);
        return TreeSearch(canonical, state, columns, stats).run();
      });
}

}  // namespace motes::matching
