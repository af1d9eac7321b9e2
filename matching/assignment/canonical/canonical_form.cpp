/// The canonical form in host memory: sides, entries, warm starts, and the way back to a Matching.

#include "matching/assignment/canonical/canonical_form.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

#include <omp.h>

#include <motes/base/index.h>

#include "matching/assignment/canonical/sides.h"
#include "matching/assignment/dense/row_keys.h"
#include "matching/points/point_bounds.h"

namespace motes::matching::detail {
namespace {

__extension__ typedef __int128 Wide;

bool any_infinite(std::span<const Cost> costs, Index count) {
  return costs.empty() ? count > 0 : std::find(costs.begin(), costs.end(), kInfiniteCost) != costs.end();
}
bool all_infinite(std::span<const Cost> costs) {
  return std::all_of(costs.begin(), costs.end(), [](Cost c) { return c == kInfiniteCost; });
}

Cost magnitude(Cost c) { return c == kInfiniteCost ? 0 : c < 0 ? -c : c; }

/// The starting price of columns that must be matched: so high that no optimum pays it unless it has to; 0
/// for perfect square problems, which do not need it.
Cost price_of_must(Wide vertices, bool must_rows, bool must_cols, Cost largest, bool perfect) {
  if (!must_rows && !must_cols) return 0;
  const Wide bound = (vertices + 2) * (2 * static_cast<Wide>(largest) + 1);
  if (bound > (Wide{1} << 60))
    throw std::invalid_argument(
        "costs times vertices pass 2^60 where vertices must be matched, so duals could overflow: use a "
        "coarser cost grid");
  return must_cols && !perfect ? static_cast<Cost>(bound) : 0;
}

}  // namespace

Cost largest_unmatched_cost(const CostsView& problem) {
  Cost largest = 0;
  for (const auto& costs : {unmatched_row_cost_of(problem), unmatched_col_cost_of(problem)})
    for (const Cost c : costs) largest = std::max(largest, magnitude(c));
  return largest;
}

namespace {

template <class Entries>
Cost largest_of_row(const Entries& entries, Index i) {
  Cost largest = 0;
  entries.for_each(i, 0, 1, [&](Index, Cost c) { largest = std::max(largest, c < 0 ? -c : c); });
  return largest;
}

/// The largest magnitude of the entries, without unmatched costs, or an upper bound of it.
template <class Entries>
Cost largest_entry(const Entries& entries, int threads) {
  Cost largest = 0;
  if (threads == 1) {  // without a parallel region, which costs more than a small problem
    for (Index i = 0; i < entries.rows; ++i) largest = std::max(largest, largest_of_row(entries, i));
    return largest;
  }
#pragma omp parallel for num_threads(threads) reduction(max : largest) schedule(static)
  for (Index i = 0; i < entries.rows; ++i) largest = std::max(largest, largest_of_row(entries, i));
  return largest;
}
template <class T>
Cost largest_entry(const DenseEntries<T>& entries, [[maybe_unused]] int threads) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    return kLargestInt32;  // the type's bound is sufficient, without a pass over the matrix
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return largest_entry<DenseEntries<T>>(entries, threads);
  } else {
    T largest = 0;
#pragma omp parallel for num_threads(threads) reduction(max : largest) schedule(static) if (threads > 1)
    for (Index i = 0; i < entries.rows; ++i)
      largest = std::max(largest, row_magnitude(entries.data + i * entries.row_stride, entries.cols).largest);
    return grid_value(largest, entries.scale);
  }
}

}  // namespace

Cost largest_cost(const CostsView& problem, int threads) {
  if (std::holds_alternative<GeometricCostsView>(problem)) {
    const Cost bound = with_entries(problem, []<class Entries>(const Entries& entries) {
      if constexpr (std::is_same_v<Entries, GeometricEntries>)
        return farthest_cost(entries, bounds_of(entries));
      else
        return kInfiniteCost;
    });
    const double vertices = static_cast<double>(rows_of(problem)) + cols_of(problem) + 2;
    if (bound <= kMaxGridCost && vertices * (2 * static_cast<double>(bound) + 1) < 0x1p59)
      return std::max(largest_unmatched_cost(problem), bound);
  }
  return std::max(largest_unmatched_cost(problem), with_entries(problem, [&](const auto& entries) {
                    return largest_entry(entries, threads);
                  }));
}

CanonicalSides make_bare_sides(Index rows, Index cols, const UnmatchedFacts& facts, Cost largest,
                               Cost& must_price) {
  CanonicalSides sides;
  sides.largest = largest;
  sides.exchanged = !facts.rows_some_infinite && facts.cols_some_infinite;
  sides.rows = sides.exchanged ? cols : rows;
  sides.cols = sides.exchanged ? rows : cols;
  sides.perfect = rows == cols && facts.rows_all_infinite && facts.cols_all_infinite;
  must_price = price_of_must(static_cast<Wide>(rows) + cols, facts.rows_some_infinite,
                             facts.cols_some_infinite, largest, sides.perfect);
  return sides;
}

namespace {

/// The sides without the starting prices.
CanonicalSides sides_without_start(const CostsView& problem, Cost largest, Cost& must_price) {
  const auto row_cost = unmatched_row_cost_of(problem), col_cost = unmatched_col_cost_of(problem);
  const UnmatchedFacts facts{any_infinite(row_cost, rows_of(problem)), all_infinite(row_cost),
                             any_infinite(col_cost, cols_of(problem)), all_infinite(col_cost), 0};
  CanonicalSides sides = make_bare_sides(rows_of(problem), cols_of(problem), facts, largest, must_price);
  sides.row_exit = sides.exchanged ? col_cost : row_cost;
  return sides;
}

}  // namespace

CanonicalSides orient_sides(const CostsView& problem) {
  Cost must = 0;
  return sides_without_start(problem, 0, must);
}

CanonicalSides make_sides(const CostsView& problem, Cost largest) {
  Cost must = 0;
  CanonicalSides sides = sides_without_start(problem, largest, must);
  const auto row_cost = unmatched_row_cost_of(problem), col_cost = unmatched_col_cost_of(problem);
  const std::span<const Cost> start = sides.exchanged ? row_cost : col_cost;
  sides.start.resize(at(sides.cols));
  for (std::size_t j = 0; j < sides.start.size(); ++j) {
    const Cost q = start.empty() ? kInfiniteCost : start[j];
    sides.start[j] = q == kInfiniteCost ? must : q;
  }
  return sides;
}

Matching finish_solution(const CostsView& problem, const CanonicalSides& sides, Solution&& solution,
                         const std::vector<Cost>& matched_cost) {
  const std::span<const Cost> col_cost =
      sides.exchanged ? unmatched_row_cost_of(problem) : unmatched_col_cost_of(problem);
  Matching out;
  out.stats = std::move(solution.stats);
  out.row_to_col = std::move(solution.row_to_col);
  out.col_to_row.assign(at(sides.cols), -1);
  out.duals.u.resize(at(sides.rows));
  bool infeasible = solution.infeasible;
  Wide primal = 0, dual = 0;
  for (Index i = 0; i < sides.rows && !infeasible; ++i) {
    const Index j = out.row_to_col[at(i)];
    const Cost paid = j == -1 ? sides.exit_of(i) : matched_cost[at(i)];
    infeasible = paid == kInfiniteCost;
    out.duals.u[at(i)] = j == -1 ? paid : paid - solution.v[at(j)];
    primal += paid;
    dual += out.duals.u[at(i)];
  }
  for (Index i = 0; i < sides.rows; ++i) {
    if (out.row_to_col[at(i)] == -1) continue;
    out.col_to_row[at(out.row_to_col[at(i)])] = i;
    ++out.cardinality;
  }
  for (Index j = 0; j < sides.cols && !infeasible; ++j) {
    dual += solution.v[at(j)];
    if (out.col_to_row[at(j)] != -1) continue;
    const Cost paid = col_cost.empty() ? kInfiniteCost : col_cost[at(j)];
    infeasible = paid == kInfiniteCost;
    primal += paid;
  }
  if (infeasible) {
    out.status = Status::infeasible;
    out.duals = {};
    out.objective = out.dual_objective = std::numeric_limits<double>::infinity();
  } else {
    out.status = Status::optimal;
    out.duals.v = std::move(solution.v);
    out.objective = static_cast<double>(primal);
    out.dual_objective = static_cast<double>(dual);
    out.gap = static_cast<double>(primal - dual);
  }
  if (sides.exchanged) {
    std::swap(out.row_to_col, out.col_to_row);
    std::swap(out.duals.u, out.duals.v);
  }
  return out;
}

void require_cpu(const Execution& execution, const CostsView& problem, std::string_view solver) {
  if (execution.backend == Backend::cuda)
    throw std::invalid_argument(std::string(solver) + " has no CUDA form; use the cpu back end");
  if (space_of(problem) == Space::device)
    throw std::invalid_argument(std::string(solver) +
                                " on the CPU cannot read costs in device memory; copy them to the host");
}

}  // namespace motes::matching::detail
