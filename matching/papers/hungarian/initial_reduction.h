#pragma once
/// Initial reduction and initial assignment of the Hungarian solvers on the CPU (Date & Nagi 2016, section
/// 4.1, and the greedy pass behind their "initial assignments").

#include <algorithm>
#include <limits>

#include <motes/base/for_each_task.h>
#include <motes/base/index.h>
#include <motes/base/timer.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/canonical/search_rules.h"
#include "matching/papers/hungarian/row_pairs.h"

namespace motes::matching::detail {

/// Calls body(begin, end) over [0, count) in pieces, on up to `threads` threads when `work` is worth them.
template <class Body>
void over_range(int threads, Index count, std::int64_t work, Index piece, const Body& body) {
  constexpr std::int64_t kWorthThreads = 50'000;
  for_each_block(work >= kWorthThreads ? threads : 1, count, piece, body);
}

/// How much there is to read, for over_range.
inline std::int64_t work_of(const SparseEntries& e) { return e.rows == 0 ? 0 : e.offsets[e.rows]; }
template <class Entries>
std::int64_t work_of(const Entries& e) {
  return static_cast<std::int64_t>(e.rows) * e.cols;
}

/// f(j, cost) for the allowed pairs of row i with begin <= j < end.
template <class F>
void for_columns(const SparseEntries& e, Index i, Index begin, Index end, F&& f) {
  const Index *first = e.col_index + e.offsets[i], *last = e.col_index + e.offsets[i + 1];
  const Index* at = begin == 0 ? first : std::lower_bound(first, last, begin);
  for (; at != last && *at < end; ++at) f(*at, e.cost[at - e.col_index]);
}
template <class Entries, class F>
void for_columns(const Entries& e, Index i, Index begin, Index end, F&& f) {
  for (Index j = begin; j < end; ++j) {
    const Cost c = e.at(i, j);
    if (c != kInfiniteCost) f(j, c);
  }
}

/// Row reduction u_i = min(exit_i, min_j c_ij - v_j), then, where the problem is perfect (elsewhere no dual
/// may rise above its start), column reduction v_j = min_i c_ij - u_i. False where a vertex that must be
/// matched has no pair.
template <class Entries>
bool reduce(const Canonical<Entries>& problem, int threads, StartState& state) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  const std::int64_t work = work_of(problem.entries);
  over_range(threads, problem.rows, work, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Cost least = problem.exit_of(i);
      problem.entries.for_each(i, 0, 1,
                               [&](Index j, Cost c) { least = std::min(least, c - state.v[at(j)]); });
      state.u[at(i)] = least;
    }
  });
  bool feasible = std::find(state.u.begin(), state.u.end(), kInfiniteCost) == state.u.end();
  if (!problem.perfect || !feasible) return feasible;
  std::fill(state.v.begin(), state.v.end(), kInfiniteCost);
  const Index piece = std::max<Index>(512, problem.cols / threads + 1);
  over_range(threads, problem.cols, work, piece, [&](Index begin, Index end) {
    for (Index i = 0; i < problem.rows; ++i) {
      const Cost u = state.u[at(i)];
      for_columns(problem.entries, i, begin, end,
                  [&](Index j, Cost c) { state.v[at(j)] = std::min(state.v[at(j)], c - u); });
    }
  });
  return std::find(state.v.begin(), state.v.end(), kInfiniteCost) == state.v.end();
}

/// A maximal matching on the zero-slack pairs. In each round every row without a column proposes to the first
/// free column it finds from its own place on, and each column takes the proposer of least rank; a row that
/// finds none never will. Returns the pairs gained. Rows whose exit is tight leave through it first.
/// ask(asking, wish): wish[k] becomes the column that row asking[k] proposes to, -1: none.
template <class Ask>
std::int64_t assign_by_proposals(const CanonicalSides& sides, StartState& state, const Ask& ask) {
  std::vector<Index> asking, wish;
  for (Index i = 0; i < sides.rows; ++i)
    if (state.row_to_col[at(i)] == -1 && state.u[at(i)] != sides.exit_of(i)) asking.push_back(i);
  std::int64_t gained = 0;
  while (!asking.empty()) {
    wish.assign(asking.size(), -1);
    ask(asking, wish);
    for (std::size_t k = 0; k < asking.size(); ++k) {
      if (wish[k] == -1) continue;
      Index& mate = state.col_to_row[at(wish[k])];
      const std::uint32_t salt = scramble(wish[k]);
      if (mate == -1 || rank_of(asking[k], salt) < rank_of(mate, salt)) mate = asking[k];
    }
    std::vector<Index> rest;
    for (std::size_t k = 0; k < asking.size(); ++k) {
      const Index i = asking[k], j = wish[k];
      if (j == -1) continue;
      if (state.col_to_row[at(j)] == i)
        state.row_to_col[at(i)] = j, ++gained;
      else
        rest.push_back(i);
    }
    asking.swap(rest);
  }
  return gained;
}

/// The position at which a row of that length starts its search.
inline Index first_place(Index row, Index length) {
  return length == 0 ? 0 : static_cast<Index>(scramble(row) % static_cast<std::uint32_t>(length));
}

/// The first free column with a zero of row `local` of these entries, row `row` of the problem, from the
/// row's own place on; -1: none. The entries hold all columns.
template <class Entries>
Index first_free_zero(const Entries& entries, Index local, Index row, const StartState& state) {
  const Index length = length_of(entries, local);
  const Cost u = state.u[at(row)];
  Index place = first_place(row, length);
  for (Index step = 0; step < length; ++step) {
    const Edge e = edge_of(entries, local, place);
    if (e.cost != kInfiniteCost && e.cost - u == state.v[at(e.col)] && state.col_to_row[at(e.col)] == -1)
      return e.col;
    place = place + 1 == length ? 0 : place + 1;
  }
  return -1;
}

template <class Entries>
std::int64_t assign_greedily(const Canonical<Entries>& problem, int threads, StartState& state) {
  return assign_by_proposals(problem, state, [&](const std::vector<Index>& asking, std::vector<Index>& wish) {
    over_range(threads, static_cast<Index>(asking.size()), work_of(problem.entries), 64,
               [&](Index begin, Index end) {
                 for (Index k = begin; k < end; ++k)
                   wish[at(k)] = first_free_zero(problem.entries, asking[at(k)], asking[at(k)], state);
               });
  });
}

/// The state from which the searches start. `warm`: from the caller's start instead of the reduction.
template <class Entries>
bool begin_hungarian(const Canonical<Entries>& problem, const Start& given, int threads, StartState& state,
                     Stats& stats) {
  auto clock = std::chrono::steady_clock::now();
  const bool warm = !given.row_to_col.empty() || !given.u.empty() || !given.v.empty();
  bool feasible = true;
  if (warm) {
    state = make_start(problem, given);
    feasible = std::find(state.u.begin(), state.u.end(), kInfiniteCost) == state.u.end();
  } else {
    state.v = problem.start;
    state.u.resize(static_cast<std::size_t>(problem.rows));
    state.row_to_col.assign(static_cast<std::size_t>(problem.rows), -1);
    state.col_to_row.assign(static_cast<std::size_t>(problem.cols), -1);
    feasible = reduce(problem, threads, state);
  }
  stats.seconds["initial_reduction"] = seconds_since(clock);
  clock = std::chrono::steady_clock::now();
  if (feasible) {
    for (const Index j : state.row_to_col) stats.initial_assignments += j != -1;
    stats.initial_assignments += assign_greedily(problem, threads, state);
  }
  stats.seconds["initial_assignment"] = seconds_since(clock);
  return feasible;
}

}  // namespace motes::matching::detail
