/// The certificate over the pairs of all ranks: each rank checks its own, then faults and the costs of
/// matched pairs are combined, and certificate.h does the rest.

#include <algorithm>
#include <limits>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

#include "matching/certificate.h"
#include "matching/distributed/distributed_problem.h"

namespace motes::matching {
namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// Row-major order in one number.
std::int64_t code_of(Index row, Index col) { return static_cast<std::int64_t>(row) << 32 | col; }
detail::Pair pair_of(std::int64_t code) {
  if (code == kNone) return {};
  return {static_cast<Index>(code >> 32), static_cast<Index>(code & 0xffffffff)};
}

/// The first fault of each kind among this rank's pairs, and the costs of its matched pairs.
struct Findings {
  std::int64_t no_edge = kNone, infeasible = kNone, loose = kNone;
  void merge(const Findings& other) {
    no_edge = std::min(no_edge, other.no_edge);
    infeasible = std::min(infeasible, other.infeasible);
    loose = std::min(loose, other.loose);
  }
};

template <class Entries>
Findings look(int threads, const Entries& entries, Index first_row, Index first_col, const Matching& matching,
              bool duals, std::vector<Cost>& matched_cost) {
  Findings all;
  constexpr Index kRowsPerTask = 64;
  const std::int64_t tasks = (static_cast<std::int64_t>(entries.rows) + kRowsPerTask - 1) / kRowsPerTask;
  parallel_for(threads, tasks, [&](std::int64_t task) {
    Findings mine;
    const auto begin = static_cast<Index>(task * kRowsPerTask);
    const Index end = std::min<Index>(entries.rows, begin + kRowsPerTask);
    for (Index local = begin; local < end; ++local) {
      const Index i = first_row + local, mate = matching.row_to_col[at(i)];
      const Wide u = duals ? matching.duals.u[at(i)] : 0;
      if (mate >= first_col && mate - first_col < entries.cols) {
        const Cost c = entries.at(local, mate - first_col);
        matched_cost[at(i)] = c;
        if (c == kInfiniteCost)
          mine.no_edge = std::min(mine.no_edge, code_of(i, mate));
        else if (duals && u + matching.duals.v[at(mate)] != c)
          mine.loose = std::min(mine.loose, code_of(i, mate));
      }
      if (!duals) continue;
      entries.for_each(local, 0, 1, [&](Index j, Cost c) {
        if (u + matching.duals.v[at(first_col + j)] > c)
          mine.infeasible = std::min(mine.infeasible, code_of(i, first_col + j));
      });
    }
#pragma omp critical(motes_verify_distributed)
    all.merge(mine);
  });
  return all;
}

}  // namespace

Certificate verify_distributed(Communicator& ranks, const Execution& execution,
                               const DistributedCosts& problem, const Matching& matching) {
  const CostsView outline = detail::outline_of(problem);
  if (!detail::indexable(outline, matching)) return detail::certify(outline, matching, {});
  std::vector<Cost> matched_cost(at(problem.rows), kInfiniteCost);
  Findings found;
  const bool by_rows = problem.split == Split::rows;
  ranks.agreed([&] {
    found = detail::with_part(problem, [&](const auto& entries) {
      return look(thread_count(execution), entries, by_rows ? problem.mine.first : 0,
                  by_rows ? 0 : problem.mine.first, matching, detail::has_duals(outline, matching),
                  matched_cost);
    });
  });
  std::int64_t faults[] = {found.no_edge, found.infeasible, found.loose};
  ranks.all_reduce(faults, Reduction::min);
  ranks.all_reduce(matched_cost, Reduction::min);
  return detail::certify(
      outline, matching,
      {std::move(matched_cost), pair_of(faults[0]), pair_of(faults[1]), pair_of(faults[2])});
}

}  // namespace motes::matching
