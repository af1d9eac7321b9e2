#pragma once
/// Checks that a general graph lists each edge from both ends, with the same weight.

#include <motes/matching/greedy_problem.h>

namespace motes::matching::detail {

/// The sum of hashes (of ends and weight) of the edges listed from their lesser end, minus that of those
/// listed from their greater end, without loops: 0 if both sets are equal. An exact comparison would cost a
/// random read for each entry; the sum is 0 by chance with a probability of 2^-64. The same number with and
/// without AVX-512, on any number of threads. General graphs in host memory whose lists are sound. O(nnz).
std::uint64_t imbalance(const GreedyProblem& problem, int threads);

}  // namespace motes::matching::detail
