/// The Hungarian solvers over several ranks (Date & Nagi 2016, section 5): the searches of one rank, with
/// rows or columns distributed.

#include "matching/papers/hungarian/solve_distributed.h"

#include <motes/base/errors.h>
#include <motes/base/index.h>

#include "matching/papers/hungarian/column_share.h"
#include "matching/papers/hungarian/cover_search.h"
#include "matching/papers/hungarian/distributed_start.h"
#include "matching/papers/hungarian/row_share.h"
#include "matching/papers/hungarian/tree_search.h"

namespace motes::matching {
namespace detail {

template <class Entries>
Solution solve_part(Communicator& ranks, int threads, bool by_covers, const CanonicalSides& sides,
                    const Entries& entries, Index first) {
  StartState state;
  Stats stats;
  bool feasible = false;
  if (by_covers) {
    RowStart<Entries> start(entries, first, threads, ranks);
    feasible = begin_distributed(sides, start, state, stats);
    if (feasible) {
      RowShare<Entries> rows(entries, first, state, threads, &ranks);
      feasible = CoverSearch(sides, state, rows, stats).run();
    }
  } else {
    ColumnStart<Entries> start(entries, first, sides.cols, threads, ranks);
    feasible = begin_distributed(sides, start, state, stats);
    if (feasible) {
      ColumnShare<Entries> columns(entries, first, state, threads, &ranks);
      feasible = TreeSearch(sides, state, columns, stats).run();
    }
  }
  return {std::move(state.row_to_col), std::move(state.v), !feasible, std::move(stats)};
}

template Solution solve_part(Communicator&, int, bool, const CanonicalSides&, const SparseEntries&, Index);
template Solution solve_part(Communicator&, int, bool, const CanonicalSides&,
                             const DenseEntries<std::int32_t>&, Index);
template Solution solve_part(Communicator&, int, bool, const CanonicalSides&,
                             const DenseEntries<std::int64_t>&, Index);
template Solution solve_part(Communicator&, int, bool, const CanonicalSides&, const DenseEntries<float>&,
                             Index);
template Solution solve_part(Communicator&, int, bool, const CanonicalSides&, const DenseEntries<double>&,
                             Index);
template Solution solve_part(Communicator&, int, bool, const CanonicalSides&, const GeometricEntries&, Index);

}  // namespace detail

}  // namespace motes::matching
