#pragma once
/// The functions of the initialisers, and their shared parts; initialiser.h states the guarantees.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/cardinality_problem.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/init/visit_order.h"

namespace motes::matching {

std::vector<Index> start_cheap(const Execution& execution, const CardinalityProblem& problem,
                               std::uint64_t seed);
std::vector<Index> start_karp_sipser(const Execution& execution, const CardinalityProblem& problem,
                                     std::uint64_t seed);
std::vector<Index> start_min_degree(const Execution& execution, const CardinalityProblem& problem,
                                    std::uint64_t seed);
std::vector<Index> start_greedy(const Execution& execution, const CardinalityProblem& problem,
                                std::uint64_t seed);

namespace detail {

/// The number of threads: at most those of the execution, and fewer for few rows.
inline int threads_for(const Execution& execution, Index rows) {
  constexpr Index kRowsWorthAThread = 512;
  return std::min(thread_count(execution), 1 + rows / kRowsWorthAThread);
}

/// Words that several threads change: atomic where kShared, plain where one thread runs alone, which a locked
/// instruction per edge would slow several times. All orders are relaxed: a word implies nothing about
/// others, and threads pass data to each other only at the end of a parallel region.
template <bool kShared>
struct Word {
  template <class T>
  static T load(const T& word) {
    if constexpr (kShared)
      return std::atomic_ref<T>(const_cast<T&>(word)).load(std::memory_order_relaxed);
    else
      return word;
  }
  /// Replaces `expected` by `value`; false if another thread was first.
  template <class T>
  static bool claim(T& word, T expected, T value) {
    if constexpr (kShared) {
      std::atomic_ref<T> shared(word);
      return shared.load(std::memory_order_relaxed) == expected &&
             shared.compare_exchange_strong(expected, value, std::memory_order_relaxed);
    } else {
      if (word != expected) return false;
      word = value;
      return true;
    }
  }
  /// Returns the previous value.
  template <class T>
  static T set_bits(T& word, T bits) {
    if constexpr (kShared) {
      return std::atomic_ref<T>(word).fetch_or(bits, std::memory_order_relaxed);
    } else {
      const T before = word;
      word |= bits;
      return before;
    }
  }
  /// Adds `count`; returns the previous value.
  template <class T>
  static T add(T& word, std::type_identity_t<T> count) {
    if constexpr (kShared)
      return std::atomic_ref<T>(word).fetch_add(count, std::memory_order_relaxed);
    else
      return std::exchange(word, word + count);
  }
  /// Subtracts 1; returns the new value.
  template <class T>
  static T decrement(T& word) {
    if constexpr (kShared)
      return std::atomic_ref<T>(word).fetch_sub(1, std::memory_order_relaxed) - 1;
    else
      return --word;
  }
};

/// The start of the k-th of `ranges` equal ranges of [0, count).
inline Index range_begin(Index count, std::size_t k, std::size_t ranges) {
  return static_cast<Index>(Offset{count} * static_cast<Offset>(k) / static_cast<Offset>(ranges));
}

/// Gives every free row of `row_to_col` a free column if it has one, which makes a matching maximal. Each
/// thread has one range of rows, and a column goes to the thread that claims its word of `col_to_row` first.
/// If consecutive rows are neighbours, each takes a column that the previous one left; the first rows of a
/// range would take columns needed by the last ones of the previous range, leaving a band of free rows on one
/// side of each border and a band of free columns on the other. `by_place`: consecutive rows have columns
/// near each other, so rows first take those of their own range of columns.
template <bool kShared>
void match_free_rows(const BipartiteGraphView& graph, int threads, const VisitOrder& order, bool by_place,
                     std::vector<Index>& row_to_col, std::vector<Index>& col_to_row) {
  const auto match = [&](Index i, Index begin, Index end) {
    for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e) {
      const Index j = graph.col_index[at(e)];
      if (j < begin || j >= end || !Word<kShared>::claim(col_to_row[at(j)], Index{-1}, i)) continue;
      row_to_col[at(i)] = j;
      return true;
    }
    return false;
  };
  const std::size_t ranges = at(threads);
  const auto over_ranges = [&](const auto& body) {
    each_thread(threads, [&](std::size_t k, std::size_t given) {
      for (; k < ranges; k += given) body(k);
    });
  };
  std::vector<std::vector<Index>> left(ranges);
  over_ranges([&](std::size_t k) {
    const Index begin = by_place ? range_begin(graph.cols, k, ranges) : 0;
    const Index end = by_place ? range_begin(graph.cols, k + 1, ranges) : graph.cols;
    std::vector<Index> mine;
    for (Index n = range_begin(graph.rows, k, ranges); n < range_begin(graph.rows, k + 1, ranges); ++n) {
      const Index i = order(n);
      if (row_to_col[at(i)] == -1 && !match(i, begin, end) && by_place) mine.push_back(i);
    }
    left[k].swap(mine);
  });
  if (!by_place) return;
  over_ranges([&](std::size_t k) {
    for (const Index i : left[k]) match(i, 0, graph.cols);
  });
}

}  // namespace detail
}  // namespace motes::matching
