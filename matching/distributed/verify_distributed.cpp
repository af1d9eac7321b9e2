/// The certificate over the pairs of all ranks: each rank checks its own, then faults and the costs of
/// matched pairs are combined, and certificate.h does the rest.

#include <algorithm>
#include <limits>

#include <motes/base/gpu/device.h>
#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

#include "matching/assignment/device_problem.h"
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

/// The same on this rank's GPU, for points: of a block of rows, whichever side is distributed.
Findings look_on_device(Communicator& ranks, const Execution& execution, const DistributedCosts& problem,
                        const Matching& matching, std::vector<Cost>& matched_cost) {
  Execution here = execution;
  here.device = gpu::device_of_rank(ranks);
  Findings out;
  ranks.agreed([&] {
    const Block mine = block_of(problem.rows, ranks.rank(), ranks.size());
    auto points = std::get<GeometricCostsView>(view_of(problem.part));
    for (std::span<const double>* axis : {&points.row_points.x, &points.row_points.y, &points.row_points.z})
      if (!axis->empty()) *axis = axis->subspan(at(mine.first), at(mine.count));
    Matching rows;
    const auto cut = [&](const auto& all) {
      const auto begin = all.begin() + mine.first;
      return std::decay_t<decltype(all)>(begin, begin + mine.count);
    };
    rows.row_to_col = cut(matching.row_to_col);
    if (detail::has_duals(detail::outline_of(problem), matching))
      rows.duals = {cut(matching.duals.u), matching.duals.v};
    const detail::EdgeFindings found = detail::find_faults_on_device(here, points, rows);
    std::copy(found.matched_cost.begin(), found.matched_cost.end(), matched_cost.begin() + mine.first);
    const auto code = [&](const detail::Pair& pair) {
      return pair ? code_of(mine.first + pair.row, pair.col) : kNone;
    };
    out = {code(found.no_edge), code(found.infeasible), code(found.loose)};
  });
  return out;
}

}  // namespace

Certificate verify_distributed(Communicator& ranks, const Execution& execution,
                               const DistributedCosts& problem, const Matching& matching) {
  const CostsView outline = detail::outline_of(problem);
  if (!detail::indexable(outline, matching)) return detail::certify(outline, matching, {});
  std::vector<Cost> matched_cost(at(problem.rows), kInfiniteCost);
  Findings found;
  const bool by_rows = problem.split == Split::rows,
             by_gpu =
                 execution.backend == Backend::cuda && std::holds_alternative<GeometricCosts>(problem.part);
  if (by_gpu) found = look_on_device(ranks, execution, problem, matching, matched_cost);
  ranks.agreed([&] {
    if (by_gpu) return;
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
