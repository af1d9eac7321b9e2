#pragma once
/// Initial reduction and initial assignment where rows or columns are distributed over ranks, on the CPU
/// (Date & Nagi 2016, section 5, step 2): initial_reduction.h's rules, with the same result.

#include <algorithm>
#include <limits>
#include <vector>

#include <motes/base/communicator.h>

#include "matching/papers/hungarian/initial_reduction.h"
#include "matching/papers/hungarian/row_pairs.h"

namespace motes::matching::detail {

/// A rank's rows: row minima are its own, column minima the least of all ranks'.
template <class Entries>
class RowStart {
 public:
  RowStart(const Entries& entries, Index first, int threads, Communicator& ranks)
      : entries_(entries), first_(first), threads_(threads), ranks_(ranks) {}

  /// u_i = min_j c_ij - v_j of all rows; kInfiniteCost: no pair.
  void row_minima(StartState& state) {
    std::vector<Cost> mine(at(entries_.rows), kInfiniteCost);
    over_range(threads_, entries_.rows, work_of(entries_), 64, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        entries_.for_each(i, 0, 1,
                          [&](Index j, Cost c) { mine[at(i)] = std::min(mine[at(i)], c - state.v[at(j)]); });
    });
    ranks_.all_gather<Cost>(mine, state.u);
  }
  /// v_j = min_i c_ij - u_i of all columns; kInfiniteCost: no pair.
  void col_minima(StartState& state) {
    std::fill(state.v.begin(), state.v.end(), kInfiniteCost);
    const Index piece = std::max<Index>(512, entries_.cols / threads_ + 1);
    over_range(threads_, entries_.cols, work_of(entries_), piece, [&](Index begin, Index end) {
      for (Index i = 0; i < entries_.rows; ++i) {
        const Cost u = state.u[at(first_ + i)];
        for_columns(entries_, i, begin, end,
                    [&](Index j, Cost c) { state.v[at(j)] = std::min(state.v[at(j)], c - u); });
      }
    });
    ranks_.all_reduce(state.v, Reduction::min);
  }
  void ask(const StartState& state, const std::vector<Index>& asking, std::vector<Index>& wish) {
    const auto mine = [&](Index i) { return i >= first_ && i - first_ < entries_.rows; };
    std::vector<Index> found(asking.size(), -1);
    over_range(threads_, static_cast<Index>(asking.size()), work_of(entries_), 64,
               [&](Index begin, Index end) {
                 for (Index k = begin; k < end; ++k)
                   if (const Index i = asking[at(k)]; mine(i))
                     found[at(k)] = first_free_zero(entries_, i - first_, i, state);
               });
    // Rows ask in ascending order, so that the ranks' results are in order too.
    std::vector<Index> kept;
    for (std::size_t k = 0; k < asking.size(); ++k)
      if (mine(asking[k])) kept.push_back(found[k]);
    ranks_.all_gather<Index>(kept, wish);
  }

 private:
  const Entries entries_;
  Index first_;
  int threads_;
  Communicator& ranks_;
};

/// A rank's columns: column minima are its own, row minima the least of all ranks'.
template <class Entries>
class ColumnStart {
 public:
  ColumnStart(const Entries& entries, Index first, Index all_cols, int threads, Communicator& ranks)
      : entries_(entries), first_(first), threads_(threads), ranks_(ranks) {
    if constexpr (std::is_same_v<Entries, SparseEntries>)
      count_pairs();
    else
      all_cols_ = all_cols;
  }

  void row_minima(StartState& state) {
    state.u.assign(state.u.size(), kInfiniteCost);
    over_range(threads_, entries_.rows, work_of(entries_), 64, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        entries_.for_each(i, 0, 1, [&](Index j, Cost c) {
          state.u[at(i)] = std::min(state.u[at(i)], c - state.v[at(first_ + j)]);
        });
    });
    ranks_.all_reduce(state.u, Reduction::min);
  }
  void col_minima(StartState& state) {
    std::vector<Cost> mine(at(entries_.cols), kInfiniteCost);
    const Index piece = std::max<Index>(512, entries_.cols / threads_ + 1);
    over_range(threads_, entries_.cols, work_of(entries_), piece, [&](Index begin, Index end) {
      for (Index i = 0; i < entries_.rows; ++i)
        for_columns(entries_, i, begin, end,
                    [&](Index j, Cost c) { mine[at(j)] = std::min(mine[at(j)], c - state.u[at(i)]); });
    });
    ranks_.all_gather<Cost>(mine, state.v);
  }
  /// Each rank finds the first of its columns in the row's order; the least of these is the row's.
  void ask(const StartState& state, const std::vector<Index>& asking, std::vector<Index>& wish) {
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> found(asking.size(), kNone);
    over_range(threads_, static_cast<Index>(asking.size()), work_of(entries_), 64,
               [&](Index begin, Index end) {
                 for (Index k = begin; k < end; ++k) found[at(k)] = first_here(asking[at(k)], state);
               });
    ranks_.all_reduce(found, Reduction::min);
    for (std::size_t k = 0; k < wish.size(); ++k)
      wish[k] = found[k] == kNone ? -1 : static_cast<Index>(found[k] & 0xffffffff);
  }

 private:
  /// Steps from the row's first place, then the column, in one number; the greatest number: none here.
  std::int64_t first_here(Index i, const StartState& state) const {
    const Index length = length_of(entries_, i), all = length_in_all(i), before = pairs_before(i);
    const Index place = first_place(i, all);
    const Cost u = state.u[at(i)];
    const Index split = std::clamp<Index>(place - before, 0, length);  // pairs from here on come first
    for (Index step = 0; step < length; ++step) {
      const Index k = step < length - split ? split + step : step - (length - split);
      const Edge e = edge_of(entries_, i, k);
      const Index col = first_ + e.col;
      if (e.cost == kInfiniteCost || e.cost - u != state.v[at(col)] || state.col_to_row[at(col)] != -1)
        continue;
      const std::int64_t from = before + k;
      return (from >= place ? from - place : from - place + all) << 32 | col;
    }
    return std::numeric_limits<std::int64_t>::max();
  }

  Index length_in_all(Index i) const { return all_cols_ >= 0 ? all_cols_ : length_[at(i)]; }
  Index pairs_before(Index i) const { return all_cols_ >= 0 ? first_ : before_[at(i)]; }
  void count_pairs() {
    std::vector<Index> mine(at(entries_.rows));
    for (Index i = 0; i < entries_.rows; ++i) mine[at(i)] = length_of(entries_, i);
    const std::vector<Index> all = ranks_.all_gather<Index>(mine);
    length_.assign(mine.size(), 0);
    before_.assign(mine.size(), 0);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::size_t i = k % mine.size();
      if (k / mine.size() == at(ranks_.rank())) before_[i] = length_[i];
      length_[i] += all[k];
    }
  }

  const Entries entries_;
  Index first_;
  Index all_cols_ = -1;  ///< of dense rows; -1: sparse
  int threads_;
  Communicator& ranks_;
  std::vector<Index> before_, length_;  ///< [rows] sparse: pairs on lower ranks, and on all
};

/// Duals and pairs that the searches begin with; `part` is one of the classes above, or does the same on a
/// device. False where a vertex that must be matched has no pair.
template <class Part>
bool begin_distributed(const CanonicalSides& sides, Part& part, StartState& state, Stats& stats) {
  auto clock = std::chrono::steady_clock::now();
  state.v = sides.start;
  state.u.resize(at(sides.rows));
  state.row_to_col.assign(at(sides.rows), -1);
  state.col_to_row.assign(at(sides.cols), -1);
  const auto all_finite = [](const std::vector<Cost>& duals) {
    return std::find(duals.begin(), duals.end(), kInfiniteCost) == duals.end();
  };
  part.row_minima(state);
  for (Index i = 0; i < sides.rows; ++i) state.u[at(i)] = std::min(state.u[at(i)], sides.exit_of(i));
  bool feasible = all_finite(state.u);
  if (feasible && sides.perfect) {
    part.col_minima(state);
    feasible = all_finite(state.v);
  }
  stats.seconds["initial_reduction"] = seconds_since(clock);
  clock = std::chrono::steady_clock::now();
  if (feasible)
    stats.initial_assignments = assign_by_proposals(
        sides, state,
        [&](const std::vector<Index>& asking, std::vector<Index>& wish) { part.ask(state, asking, wish); });
  stats.seconds["initial_assignment"] = seconds_since(clock);
  return feasible;
}

}  // namespace motes::matching::detail
