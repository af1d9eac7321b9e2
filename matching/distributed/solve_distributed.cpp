/// Solves a distributed problem: checks, the solver's part on each rank, and the answer from what all found.

#include "matching/papers/hungarian/solve_distributed.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include <motes/base/errors.h>
#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

#include "matching/assignment/core/point_order.h"
#include "matching/assignment/device_problem.h"
#include "matching/distributed/distributed_problem.h"
#include "matching/distributed/solve_by_core.h"

namespace motes::matching {

namespace detail {
namespace {

/// Lengths and unmatched costs.
void check_distributed(const DistributedCosts& problem) {
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

/// Throws the error of any rank on every rank; returns the problem's sides.
CanonicalSides check_and_orient(Communicator& ranks, const CostsView& outline,
                                const DistributedCosts& problem, int threads) {
  Cost largest = 0;
  ranks.agreed([&] {
    check_problem(view_of(problem.part), threads);
    largest = std::max(largest_cost(view_of(problem.part), threads), largest_unmatched_cost(outline));
  });
  largest = ranks.all_reduce(largest, Reduction::max);
  CanonicalSides sides;
  ranks.agreed([&] { sides = make_sides(outline, largest); });
  return sides;
}

/// The answer of a rank's `entries`: rows [first, ...) of the canonical form (by_rows), or its columns.
template <class Entries>
Matching finish_distributed(Communicator& ranks, const CostsView& outline, const CanonicalSides& sides,
                            Solution&& solution, bool by_rows, const Block& mine, const Entries& entries) {
  const auto cost = matched_costs(ranks, solution, by_rows, mine.first, mine.count,
                                  [&](Index i, Index j) { return entries.at(i, j); });
  return finish_solution(outline, sides, std::move(solution), cost);
}

Matching solve_by_hungarian(Communicator& ranks, const Execution& execution, bool by_covers,
                            const CostsView& outline, const DistributedCosts& problem) {
  const int threads = thread_count(execution);
  const CanonicalSides sides = check_and_orient(ranks, outline, problem, threads);
  return with_canonical_part(problem, sides.exchanged, [&](const auto& entries) {
    const Index first = problem.mine.first;
    Solution solution = execution.backend == Backend::cuda
                            ? device::solve_part(ranks, execution, by_covers, sides, entries, first)
                            : solve_part(ranks, threads, by_covers, sides, entries, first);
    return finish_distributed(ranks, outline, sides, std::move(solution), by_covers, problem.mine, entries);
  });
}

/// The sides of a matrix, from the largest entry that the selection has seen.
template <class T>
CanonicalSides sides_of_seen(Communicator& ranks, const CostsView& outline, const DistributedCosts& problem,
                             double scale, const CoreSelection& seen, int threads) {
  if (!std::is_floating_point_v<T> || seen.bad || seen.largest * scale > static_cast<double>(kMaxGridCost))
    return check_and_orient(ranks, outline, problem, threads);
  CanonicalSides sides;
  ranks.agreed([&] {
    sides = make_sides(outline, std::max(largest_unmatched_cost(outline), grid_value(seen.largest, scale)));
  });
  return sides;
}

/// A GPU for each rank.
template <class T>
Solution solve_core_on_devices(Communicator& ranks, const Execution& execution, const CostsView& outline,
                               const DistributedCosts& problem, const DenseEntries<T>& entries,
                               CanonicalSides& sides) {
  const int threads = thread_count(execution);
  const device::DistributedDeviceCalls calls{
      [&](Cost mine) {
        const Cost largest = ranks.all_reduce(mine < 0 ? kInfiniteCost : mine, Reduction::max);
        if (largest > largest_allowed(view_of(problem.part)))
          return sides = check_and_orient(ranks, outline, problem, threads);
        ranks.agreed(
            [&] { sides = make_sides(outline, std::max(largest, largest_unmatched_cost(outline))); });
        return sides;
      },
      [&](const CanonicalSides& all) {
        return device::solve_part(ranks, execution, true, all, entries, problem.mine.first);
      }};
  if (!problem.on_device)
    return device::solve_distributed_core<T>(ranks, execution, entries, nullptr, problem.mine.first, calls);
  DenseEntries<T> there = entries;
  ranks.agreed([&] {
    const auto* data = std::get_if<const T*>(&problem.on_device->data);
    if (data == nullptr) throw std::invalid_argument("on_device has another number type than the part");
    there.data = *data;
  });
  return device::solve_distributed_core<T>(ranks, execution, entries, &there, problem.mine.first, calls);
}

/// Checks everything except the entries.
void check_outline(const Execution& execution, std::string_view solver, const CostsView& outline,
                   const DistributedCosts& problem) {
  const int threads = thread_count(execution);
  if (split_for(solver, outline) != problem.split)
    throw std::invalid_argument("the problem is distributed by the other side than " + std::string(solver) +
                                " needs; see split_of");
  check_distributed(problem);
  if (solver != "jv") return;
  const auto* matrix = std::get_if<DenseCosts>(&problem.part);
  refuse_graph_on_ranks(view_of(problem.part));
  if (matrix != nullptr && matrix->entries.index() < 2)
    check_problem(view_of(problem.part), threads);
  else
    check_form(view_of(problem.part), threads);
}

/// [rows] of matched pairs; kInfiniteCost of free rows.
std::vector<Cost> costs_of_points(int threads, const GeometricEntries& entries,
                                  const std::vector<Index>& row_to_col) {
  constexpr std::size_t kRowsPerTask = 4096;
  std::vector<Cost> cost(row_to_col.size(), kInfiniteCost);
  parallel_for(threads, std::ssize(cost) / kRowsPerTask + 1, [&](std::int64_t task) {
    const auto begin = static_cast<std::size_t>(task) * kRowsPerTask;
    for (std::size_t i = begin; i < std::min(cost.size(), begin + kRowsPerTask); ++i)
      if (row_to_col[i] != -1) cost[i] = entries.at(static_cast<Index>(i), row_to_col[i]);
  });
  return cost;
}

/// Every rank has all points; on the CPU it takes a block of rows that are neighbours in space.
Matching solve_points(Communicator& ranks, const Execution& execution, const DistributedCosts& problem,
                      const DistributedCoreSettings& settings) {
  const CostsView outline = outline_of(problem);
  const CanonicalSides sides = check_and_orient(ranks, outline, problem, thread_count(execution));
  return with_entries(view_of(problem.part), [&]<class Entries>(const Entries& given) {
    if constexpr (!std::is_same_v<Entries, GeometricEntries>) {
      return Matching{};  // matrices do not come here
    } else {
      const Entries entries = sides.exchanged ? exchanged(given) : given;
      Solution solution;
      if (execution.backend == Backend::cuda) {
        solution = device::solve_distributed_points(ranks, execution, sides, entries);
      } else {
        const Canonical<Entries> canonical{sides, entries};
        const OrderedPoints ordered(canonical, {});
        const Canonical<Entries>& there = ordered.problem();
        const DistributedCoreCalls calls{[&](const CoreSelection*) { return CanonicalSides(there); }, {}};
        solution = ordered.restored(solve_distributed_core(ranks, execution, there, there.entries,
                                                           block_of(there.rows, ranks.rank(), ranks.size()),
                                                           calls, settings));
      }
      return finish_solution(outline, sides, std::move(solution),
                             costs_of_points(thread_count(execution), entries, solution.row_to_col));
    }
  });
}

}  // namespace

Matching solve_by_core(Communicator& ranks, const Execution& execution, const DistributedCosts& problem,
                       const DistributedCoreSettings& settings) {
  if (std::holds_alternative<GeometricCosts>(problem.part))
    return solve_points(ranks, execution, problem, settings);
  const CostsView outline = outline_of(problem);
  const int threads = thread_count(execution);
  const CanonicalSides oriented = orient_sides(outline);
  return with_canonical_part(problem, oriented.exchanged, [&]<class Entries>(const Entries& entries) {
    if constexpr (std::is_same_v<Entries, SparseEntries> || std::is_same_v<Entries, GeometricEntries>) {
      return Matching{};  // was refused, or handled above
    } else {
      using T = std::decay_t<decltype(*entries.data)>;
      CanonicalSides sides;
      if (execution.backend == Backend::cuda) {
        Solution solution = solve_core_on_devices(ranks, execution, outline, problem, entries, sides);
        return finish_distributed(ranks, outline, sides, std::move(solution), true, problem.mine, entries);
      }
      const DistributedCoreCalls calls{
          [&](const CoreSelection* seen) {
            sides = seen == nullptr
                        ? check_and_orient(ranks, outline, problem, threads)
                        : sides_of_seen<T>(ranks, outline, problem, entries.scale, *seen, threads);
            return sides;
          },
          [&](const CanonicalSides& all) {
            return solve_part(ranks, threads, true, all, entries, problem.mine.first);
          }};
      Solution solution =
          solve_distributed_core(ranks, execution, oriented, entries, problem.mine, calls, settings);
      return finish_distributed(ranks, outline, sides, std::move(solution), true, problem.mine, entries);
    }
  });
}

}  // namespace detail

Matching solve_distributed(Communicator& ranks, const Execution& execution, std::string_view solver,
                           const DistributedCosts& problem) {
  const CostsView outline = detail::outline_of(problem);
  ranks.agreed([&] { detail::check_outline(execution, solver, outline, problem); });
  const auto sent = ranks.traffic();
  Matching out = solver == "jv"
                     ? detail::solve_by_core(ranks, execution, problem)
                     : detail::solve_by_hungarian(ranks, execution, solver == "hungarian", outline, problem);
  out.stats.messages += ranks.traffic().calls - sent.calls;
  out.stats.bytes_sent += ranks.traffic().bytes - sent.bytes;
  out.stats.seconds["communication"] = ranks.traffic().seconds - sent.seconds;
  return out;
}

}  // namespace motes::matching
