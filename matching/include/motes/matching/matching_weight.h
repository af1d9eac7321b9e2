#pragma once
/// What a matching weighs.

#include <span>

#include <motes/matching/greedy_problem.h>

namespace motes::matching {

/// Rows whose weights are summed one after another; the sums of such blocks are then added in their order.
/// So the sum has the same bits on every back end and for any number of threads.
inline constexpr Index kRowsASum = 1024;

/// The weight of entry e, in double (1 where weights are empty). Host problems.
double weight_of(const GreedyProblem& problem, Offset e);

/// The position of `col` in the list of `row`, or -1. Host problems; O(log degree).
Offset entry_of(const GreedyProblem& problem, Index row, Index col);

/// The sum of the weights of row_to_col's pairs, which must be edges; of general graphs each pair counts in
/// the row of its lesser vertex. Host problems; O(rows log degree).
double weight_of_pairs(const GreedyProblem& problem, std::span<const Index> row_to_col, int threads);

}  // namespace motes::matching
