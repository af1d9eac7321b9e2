#pragma once
/// The canonical form of an assignment problem. Solvers work on this form only, so none of them has to
/// handle rectangular problems, unmatched costs, or sides that must be matched:
///
///   Every row takes one column, or its exit at cost exit_of(i) (kInfiniteCost: it has none), and stays free.
///   Column j has a finite starting price start[j]. Its dual always satisfies v_j <= start[j], and v_j =
///   start[j] if the column stays free. In a `perfect` problem (square, every vertex must be matched) all
///   columns end matched, so v_j may also rise above start[j] = 0.
///
/// Rows and columns are exchanged if rows may stay free but columns may not. If both sides have vertices
/// that must be matched, and the problem is not perfect, such columns start at a price that no optimum pays
/// unless it has to; if one of them is still free at the end, the problem is infeasible.

#include <chrono>
#include <utility>
#include <vector>

#include <motes/base/index.h>
#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>

#include "matching/assignment/canonical/entries.h"

namespace motes::matching::detail {

/// Everything of the canonical form but the entries. Host memory.
struct CanonicalSides {
  Index rows = 0, cols = 0;
  std::span<const Cost> row_exit;  ///< [rows], or empty: no row has an exit
  std::vector<Cost> start;         ///< [cols]
  Cost largest = 0;                ///< an upper bound on the magnitude of the problem's finite costs
  bool perfect = false;
  bool exchanged = false;  ///< rows are the problem's columns

  Cost exit_of(Index i) const {
    return row_exit.empty() ? kInfiniteCost : row_exit[static_cast<std::size_t>(i)];
  }
};

template <class Entries>
struct Canonical : CanonicalSides {
  Entries entries;
};

/// The result of a solver of the canonical form. Rows that are free at the end took their exits.
struct Solution {
  std::vector<Index> row_to_col;  ///< [rows]
  std::vector<Cost> v;            ///< [cols] final duals of the columns
  bool infeasible = false;        ///< found while solving; a row without a column and an exit is found later
  Stats stats;
};

/// Throws std::invalid_argument if vertices must be matched and costs times vertices exceed 2^60: duals could
/// then overflow. `largest` is the largest magnitude of a finite cost.
CanonicalSides make_sides(const CostsView& problem, Cost largest);

/// The part of make_sides that does not depend on the costs' size: sizes, exits, perfect, exchanged.
CanonicalSides orient_sides(const CostsView& problem);

/// The bound used as the largest magnitude of an int32 matrix, which saves a scan; 2^28 vertices and more are
/// then rejected if vertices must be matched.
inline constexpr Cost kLargestInt32 = Cost{1} << 31;

/// The largest magnitude among the finite costs, unmatched ones included, or a bound on it. Host views in
/// their own orientation. O(size), in `threads` threads.
Cost largest_cost(const CostsView& problem, int threads);

/// As above for the unmatched costs alone.
Cost largest_unmatched_cost(const CostsView& problem);

/// The matching, its objectives and its duals, in the problem's own orientation. `matched_cost` [rows]: the
/// costs of the canonical form's matched pairs; the unmatched costs must be readable from the host.
Matching finish_solution(const CostsView& problem, const CanonicalSides& sides, Solution&& solution,
                         const std::vector<Cost>& matched_cost);

/// finish_solution for a solution of canonical entries.
template <class Entries>
Matching finish(const CostsView& problem, const Canonical<Entries>& canonical, Solution&& solution) {
  std::vector<Cost> matched_cost(solution.row_to_col.size(), 0);
  for (std::size_t i = 0; i < matched_cost.size(); ++i)
    if (solution.row_to_col[i] != -1)
      matched_cost[i] = canonical.entries.at(static_cast<Index>(i), solution.row_to_col[i]);
  return finish_solution(problem, canonical, std::move(solution), matched_cost);
}

/// Solves a host problem: calls solve(canonical) -> Solution with entries of the right kind.
template <class Solve>
Matching solve_canonical(const Execution& execution, const CostsView& problem, Solve&& solve) {
  const CanonicalSides sides = make_sides(problem, largest_cost(problem, thread_count(execution)));
  const auto with = [&](const auto& entries) {
    const Canonical<std::decay_t<decltype(entries)>> canonical{sides, entries};
    return finish(problem, canonical, solve(canonical));
  };
  if (!sides.exchanged) return with_entries(problem, with);
  if (const auto* sparse = std::get_if<SparseCostsView>(&problem)) {
    const SparseCosts other = transpose(*sparse);
    return with_entries(other.view(), with);
  }
  return with_entries(problem, [&](const auto& entries) {
    if constexpr (std::is_same_v<std::decay_t<decltype(entries)>, SparseEntries>)
      return Matching{};  // handled above
    else
      return with(exchanged(entries));
  });
}

/// A state that satisfies the canonical form's invariants: u_i + v_j <= c_ij, u_i <= exit, v_j <= start[j],
/// free columns at their starting price, matched pairs tight.
struct StartState {
  std::vector<Index> row_to_col, col_to_row;
  std::vector<Cost> u, v;
};

/// The state made from the caller's start: prices of free columns are reset (a stale price is the classical
/// error), and pairs that are then not their row's best offer are dropped, until the invariants hold. Without
/// a start: starting prices, no pairs. O(size of the problem), times the rounds of dropping.
template <class Entries>
StartState make_start(const Canonical<Entries>& problem, const Start& given) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  const std::span<const Cost> v = problem.exchanged ? given.u : given.v;
  StartState state;
  state.v = problem.start;
  state.row_to_col.assign(at(problem.rows), -1);
  state.col_to_row.assign(at(problem.cols), -1);
  const auto match = [&](Index i, Index j) { state.row_to_col[at(i)] = j, state.col_to_row[at(j)] = i; };
  for (std::size_t k = 0; k < given.row_to_col.size(); ++k)
    if (given.row_to_col[k] != -1)
      problem.exchanged ? match(given.row_to_col[k], static_cast<Index>(k))
                        : match(static_cast<Index>(k), given.row_to_col[k]);
  // Duals far outside the range of any optimum could overflow.
  constexpr Cost kLimit = Cost{1} << 60;
  for (std::size_t j = 0; j < v.size(); ++j) {
    const Cost wanted = v[j] < -kLimit ? -kLimit : v[j] > kLimit ? kLimit : v[j];
    if (problem.perfect || wanted < state.v[j]) state.v[j] = wanted;
  }
  state.u.resize(at(problem.rows));
  for (bool dropped = true; dropped;) {
    dropped = false;
    if (!problem.perfect)
      for (std::size_t j = 0; j < state.v.size(); ++j)
        if (state.col_to_row[j] == -1) state.v[j] = problem.start[j];
    for (Index i = 0; i < problem.rows; ++i) {
      Cost best = problem.exit_of(i), mine = kInfiniteCost;
      const Index mate = state.row_to_col[at(i)];
      problem.entries.for_each(i, 0, 1, [&](Index j, Cost c) {
        const Cost offer = c - state.v[at(j)];
        if (offer < best) best = offer;
        if (j == mate) mine = offer;
      });
      state.u[at(i)] = best;
      if (mate == -1 || (mine == best && mine != kInfiniteCost)) continue;
      state.row_to_col[at(i)] = state.col_to_row[at(mate)] = -1;
      dropped = true;
    }
    if (problem.perfect) break;
  }
  return state;
}

/// Throws std::invalid_argument, naming the solver, unless the problem is in host memory and cuda is not
/// requested.
void require_cpu(const Execution& execution, const CostsView& problem, std::string_view solver);

}  // namespace motes::matching::detail
