#pragma once
/// Initial reduction and initial assignment of the Hungarian solvers on the CPU (Date & Nagi 2016, section
/// 4.1, and the greedy pass behind their "initial assignments").

#include <algorithm>
#include <limits>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/timer.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/canonical/search_rules.h"

namespace motes::matching::detail {

/// Calls body(begin, end) over [0, count) in pieces, on up to `threads` threads when `work` is worth them.
template <class Body>
void over_range(int threads, Index count, std::int64_t work, Index piece, const Body& body) {
  constexpr std::int64_t kWorthThreads = 50'000;
  const std::int64_t pieces = (static_cast<std::int64_t>(count) + piece - 1) / piece;
  const auto run = [&](std::int64_t k) {
    const auto begin = static_cast<Index>(k * piece);
    body(begin, static_cast<Index>(std::min<std::int64_t>(count, std::int64_t{begin} + piece)));
  };
  if (threads > 1 && work >= kWorthThreads)
    parallel_for(threads, pieces, run);
  else  // rounds may be many and tiny: not even the entry to a parallel region
    for (std::int64_t k = 0; k < pieces; ++k) run(k);
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
template <class Entries>
std::int64_t assign_greedily(const Canonical<Entries>& problem, int threads, StartState& state) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<Index> asking, wish(at(problem.rows), -1);
  for (Index i = 0; i < problem.rows; ++i)
    if (state.row_to_col[at(i)] == -1 && state.u[at(i)] != problem.exit_of(i)) asking.push_back(i);
  std::int64_t gained = 0;
  while (!asking.empty()) {
    const auto count = static_cast<Index>(asking.size());
    over_range(threads, count, work_of(problem.entries), 64, [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) {
        const Index i = asking[at(k)], length = length_of(problem.entries, i);
        const Cost u = state.u[at(i)];
        Index place = length == 0 ? 0 : static_cast<Index>(scramble(i) % static_cast<std::uint32_t>(length));
        wish[at(i)] = -1;
        for (Index step = 0; step < length && wish[at(i)] == -1; ++step) {
          const Edge e = edge_of(problem.entries, i, place);
          if (e.cost != kInfiniteCost && e.cost - u == state.v[at(e.col)] &&
              state.col_to_row[at(e.col)] == -1)
            wish[at(i)] = e.col;
          place = place + 1 == length ? 0 : place + 1;
        }
      }
    });
    for (const Index i : asking) {
      const Index j = wish[at(i)];
      if (j == -1) continue;
      Index& mate = state.col_to_row[at(j)];
      const std::uint32_t salt = scramble(j);
      if (mate == -1 || rank_of(i, salt) < rank_of(mate, salt)) mate = i;
    }
    std::vector<Index> rest;
    for (const Index i : asking) {
      const Index j = wish[at(i)];
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

/// The state the searches begin with. `warm`: from what the caller gave instead of the reduction.
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
