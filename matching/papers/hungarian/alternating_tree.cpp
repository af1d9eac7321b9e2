/// The alternating-tree variant on the CPU, with all columns in one process. The search is in tree_search.h
/// and its rounds in column_scan.h; the GPU form (alternating_tree.cu) gives the same answer.

#include "matching/papers/hungarian/alternating_tree.h"

#include "matching/papers/hungarian/column_share.h"
#include "matching/papers/hungarian/initial_reduction.h"
#include "matching/papers/hungarian/tree_search.h"

namespace motes::matching::detail {

template <class Entries>
Solution solve_by_trees(const Execution& execution, const Canonical<Entries>& problem, const Start& start) {
  const int threads = thread_count(execution);
  StartState state;
  Stats stats;
  bool feasible = begin_hungarian(problem, start, threads, state, stats);
  if (feasible) {
    ColumnShare<Entries> columns(problem.entries, 0, state, threads, nullptr);
    feasible = TreeSearch(problem, state, columns, stats).run();
  }
  return {std::move(state.row_to_col), std::move(state.v), !feasible, std::move(stats)};
}

template Solution solve_by_trees(const Execution&, const Canonical<SparseEntries>&, const Start&);
template Solution solve_by_trees(const Execution&, const Canonical<DenseEntries<std::int32_t>>&,
                                 const Start&);
template Solution solve_by_trees(const Execution&, const Canonical<DenseEntries<std::int64_t>>&,
                                 const Start&);
template Solution solve_by_trees(const Execution&, const Canonical<DenseEntries<float>>&, const Start&);
template Solution solve_by_trees(const Execution&, const Canonical<DenseEntries<double>>&, const Start&);
template Solution solve_by_trees(const Execution&, const Canonical<GeometricEntries>&, const Start&);

}  // namespace motes::matching::detail
