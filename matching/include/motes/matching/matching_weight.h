#pragma once
/// The weight of a matching.

#include <span>

#include <motes/matching/greedy_problem.h>

namespace motes::matching {

/// Weights are summed in blocks of this many rows, and the sums of the blocks are then added in order, so
/// that the total has the same bits on every back end and for any number of threads.
inline constexpr Index kRowsASum = 1024;

/// The weight of entry e as a double (1 if the weights are empty). Host problems.
double weight_of(const GreedyProblem& problem, Offset e);

/// The position of the pair in col_index, or -1 if it is not an edge. Host problems; O(log degree).
Offset entry_of(const GreedyProblem& problem, Index row, Index col);

/// The sum of the weights of the pairs in row_to_col [rows], which must be edges. In general graphs a pair is
/// counted once, in the row of its lower vertex. Host problems; O(rows log degree).
double weight_of_pairs(const GreedyProblem& problem, std::span<const Index> row_to_col, int threads);

}  // namespace motes::matching
