/// The Hungarian solvers over several ranks (Date & Nagi 2016, section 5): the searches of one rank, with
/// rows or columns distributed.

#include "matching/papers/hungarian/solve_dealt.h"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include <motes/base/errors.h>
#include <motes/base/index.h>

#include "matching/distributed/dealt_problem.h"
#include "matching/papers/hungarian/column_share.h"
#include "matching/papers/hungarian/cover_search.h"
#include "matching/papers/hungarian/dealt_start.h"
#include "matching/papers/hungarian/row_share.h"
#include "matching/papers/hungarian/tree_search.h"

namespace motes::matching {
namespace detail {
namespace {

/// Of the canonical form's rows (covers), or of its columns.
template <class Entries>
Solution solve_part(Communicator& ranks, int threads, bool by_covers, const CanonicalSides& sides,
                    const Entries& entries, Index first) {
  StartState state;
  Stats stats;
  bool feasible = false;
  if (by_covers) {
    RowStart<Entries> start(entries, first, threads, ranks);
    feasible = begin_dealt(sides, start, state, stats);
    if (feasible) {
      RowShare<Entries> rows(entries, first, state, threads, &ranks);
      feasible = CoverSearch(sides, state, rows, stats).run();
    }
  } else {
    ColumnStart<Entries> start(entries, first, sides.cols, threads, ranks);
    feasible = begin_dealt(sides, start, state, stats);
    if (feasible) {
      ColumnShare<Entries> columns(entries, first, state, threads, &ranks);
      feasible = TreeSearch(sides, state, columns, stats).run();
    }
  }
  return {std::move(state.row_to_col), std::move(state.v), !feasible, std::move(stats)};
}

void check_dealt(const DealtCosts& problem, int threads) {
  const auto check_length = [](const std::vector<Cost>& costs, Index count, const char* what) {
    if (!costs.empty() && costs.size() != at(count))
      throw std::invalid_argument(std::string(what) + " has the wrong length");
    for (const Cost c : costs)
      if (c != kInfiniteCost && (c > kMaxCost || c < -kMaxCost))
        throw std::invalid_argument(std::string(what) + " has a cost beyond 2^58");
  };
  check_length(problem.unmatched_row_cost, problem.rows, "unmatched_row_cost");
  check_length(problem.unmatched_col_cost, problem.cols, "unmatched_col_cost");
  const CostsView part = view_of(problem.part);
  const bool by_rows = problem.split == Split::rows,
             cut = !std::holds_alternative<GeometricCosts>(problem.part);
  if (rows_of(part) != (cut && by_rows ? problem.mine.count : problem.rows) ||
      cols_of(part) != (cut && !by_rows ? problem.mine.count : problem.cols))
    throw std::invalid_argument("the part has the wrong number of rows or columns");
  check_problem(part, threads);
}

/// Costs of the matched pairs, from the ranks that hold them.
std::vector<Cost> matched_costs(Communicator& ranks, const Solution& solution, bool by_covers, Index first,
                                Index count, const std::function<Cost(Index, Index)>& cost_at) {
  std::vector<Cost> cost(solution.row_to_col.size(), kInfiniteCost);
  for (std::size_t i = 0; i < cost.size(); ++i) {
    const Index j = solution.row_to_col[i];
    if (j == -1) continue;
    const Index row = static_cast<Index>(i), place = by_covers ? row - first : j - first;
    if (place < 0 || place >= count) continue;
    cost[i] = by_covers ? cost_at(place, j) : cost_at(row, place);
  }
  ranks.all_reduce(cost, Reduction::min);
  return cost;
}

}  // namespace
}  // namespace detail

Matching solve_dealt(Communicator& ranks, const Execution& execution, std::string_view solver,
                     const DealtCosts& problem) {
  const CostsView outline = detail::outline_of(problem);
  const bool by_covers = solver == "hungarian";
  const int threads = thread_count(execution);
  Cost largest = 0;
  ranks.agreed([&] {
    if (split_of(solver, outline) != problem.split)
      throw std::invalid_argument("the problem is dealt out by the other side than " + std::string(solver) +
                                  " needs; see split_of");
    detail::check_dealt(problem, threads);
    largest = std::max(detail::largest_cost(view_of(problem.part), threads),
                       detail::largest_unmatched_cost(outline));
  });
  largest = ranks.all_reduce(largest, Reduction::max);
  detail::CanonicalSides sides;
  ranks.agreed([&] { sides = detail::make_sides(outline, largest); });
  const auto sent = ranks.traffic();
  Matching out = detail::with_canonical_part(problem, sides.exchanged, [&](const auto& entries) {
    const Index first = problem.mine.first;
    detail::Solution solution = execution.backend == Backend::cuda
                                    ? device::solve_part(ranks, execution, by_covers, sides, entries, first)
                                    : detail::solve_part(ranks, threads, by_covers, sides, entries, first);
    const auto cost = detail::matched_costs(ranks, solution, by_covers, first, problem.mine.count,
                                            [&](Index i, Index j) { return entries.at(i, j); });
    return detail::finish_solution(outline, sides, std::move(solution), cost);
  });
  out.stats.messages += ranks.traffic().calls - sent.calls;
  out.stats.bytes_sent += ranks.traffic().bytes - sent.bytes;
  out.stats.seconds["communication"] = ranks.traffic().seconds - sent.seconds;
  return out;
}

#if !MOTES_HAS_NCCL
namespace device {
template <class Entries>
detail::Solution solve_part(Communicator& ranks, const Execution&, bool, const detail::CanonicalSides&,
                            const Entries&, Index) {
  ranks.agreed([] {
    throw ResourceError(
        "several ranks on GPUs need CUDA and NCCL, which this build lacks (MOTES_NCCL); use the cpu back "
        "end");
  });
  return {};
}
}  // namespace device
#endif

}  // namespace motes::matching
