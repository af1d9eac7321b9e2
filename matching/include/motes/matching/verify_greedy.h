#pragma once
/// What can be proven of a greedy matching in one pass over the edges.

#include <string>

#include <motes/matching/answer.h>
#include <motes/matching/greedy_problem.h>

namespace motes::matching {

struct GreedyCertificate {
  bool matching_valid = false;  ///< sides agree, every pair is an edge, cardinality and weight are told right
  bool maximal = false;         ///< no edge has both ends free
  /// Every edge shares an end with a matched edge that is not behind it in the order of edge_order.h (or is
  /// matched itself). Only one matching does: that of greedy-sorted; its weight is at least half of the
  /// greatest.
  bool dominant = false;
  double weight = 0;
  /// No matching weighs more: the lesser of twice the weight (where dominant) and half the sum of every
  /// vertex's heaviest edge (of bipartite graphs, the lesser of the two sides' sums).
  double upper_bound = 0;
  std::string fault;  ///< the first one, with the vertices; empty when none
};

/// Checks an answer, trusting nothing; the graph must be sound (check_problem). Host problems;
/// O(rows + cols + nnz) in `threads` threads.
GreedyCertificate verify(const GreedyProblem& problem, const Matching& answer, int threads = 1);

}  // namespace motes::matching
