#pragma once
/// Whether a general graph lists each edge from both ends, with one weight.

#include <motes/matching/greedy_problem.h>

namespace motes::matching::detail {

/// Edges listed from the lesser end less those from the greater, each as a hash of its ends and weight, loops
/// left out: 0 where both sets are the same. Another sum would cost random reads for every entry; that this
/// one is 0 by chance has a probability of 2^-64. The same number with and without AVX-512, on any number of
/// threads. General graphs in host memory whose lists are sound. O(nnz).
std::uint64_t imbalance(const GreedyProblem& problem, int threads);

}  // namespace motes::matching::detail
