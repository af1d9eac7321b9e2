/// The classical variant on the CPU, with all rows in one process. The search is in cover_search.h; the GPU
/// form (classical.cu) gives the same answer.

#include "matching/papers/hungarian/classical.h"

#include "matching/papers/hungarian/cover_search.h"
#include "matching/papers/hungarian/initial_reduction.h"
#include "matching/papers/hungarian/row_share.h"

namespace motes::matching::detail {

template <class Entries>
Solution solve_by_covers(const Execution& execution, const Canonical<Entries>& problem, const Start& start) {
  const int threads = thread_count(execution);
  StartState state;
  Stats stats;
  bool feasible = begin_hungarian(problem, start, threads, state, stats);
  if (feasible) {
    RowShare<Entries> rows(problem.entries, 0, state, threads, nullptr);
    feasible = CoverSearch(problem, state, rows, stats).run();
  }
  return {std::move(state.row_to_col), std::move(state.v), !feasible, std::move(stats)};
}

template Solution solve_by_covers(const Execution&, const Canonical<SparseEntries>&, const Start&);
template Solution solve_by_covers(const Execution&, const Canonical<DenseEntries<std::int32_t>>&,
                                  const Start&);
template Solution solve_by_covers(const Execution&, const Canonical<DenseEntries<std::int64_t>>&,
                                  const Start&);
template Solution solve_by_covers(const Execution&, const Canonical<DenseEntries<float>>&, const Start&);
template Solution solve_by_covers(const Execution&, const Canonical<DenseEntries<double>>&, const Start&);
template Solution solve_by_covers(const Execution&, const Canonical<GeometricEntries>&, const Start&);

}  // namespace motes::matching::detail
