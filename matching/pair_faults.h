#pragma once
/// The pass over the pairs of a problem that an optimality certificate needs, for all pairs or those of one
/// rank.

#include <vector>

#include <motes/base/for_each_task.h>
#include <motes/base/index.h>

#include "matching/assignment/canonical/entries.h"
#include "matching/certificate.h"

namespace motes::matching::detail {

/// Adds to `out` the first fault of each kind, in row-major order, and the costs of matched pairs. `entries`:
/// the problem's rows from `first_row` and columns from `first_col` on. The matching, which must be
/// indexable, and out.matched_cost are those of the whole problem. `duals`: whether there are any. O(pairs).
template <class Entries>
void find_faults(int threads, const Entries& entries, Index first_row, Index first_col,
                 const Matching& matching, bool duals, EdgeFindings& out) {
  __extension__ typedef __int128 Wide;
  constexpr Index kRowsPerTask = 64;
  for_each_block(threads, entries.rows, kRowsPerTask, [&](Index begin, Index end) {
    Pair no_edge, infeasible, loose;
    for (Index local = begin; local < end; ++local) {
      const Index i = first_row + local, mate = matching.row_to_col[at(i)];
      const Wide u = duals ? matching.duals.u[at(i)] : 0;
      if (mate >= first_col && mate - first_col < entries.cols) {
        const Cost c = entries.at(local, mate - first_col);
        out.matched_cost[at(i)] = c;
        if (c == kInfiniteCost)
          no_edge.keep_first({i, mate});
        else if (duals && u + matching.duals.v[at(mate)] != c)
          loose.keep_first({i, mate});
      }
      if (!duals) continue;
      entries.for_each(local, 0, 1, [&](Index j, Cost c) {
        if (u + matching.duals.v[at(first_col + j)] > c) infeasible.keep_first({i, first_col + j});
      });
    }
    if (!no_edge && !infeasible && !loose) return;
#pragma omp critical(motes_pair_faults)
    {
      out.no_edge.keep_first(no_edge);
      out.infeasible.keep_first(infeasible);
      out.loose.keep_first(loose);
    }
  });
}

}  // namespace motes::matching::detail
