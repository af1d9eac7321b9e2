#pragma once
/// Certificates of greedy matchings, from one pass over the edges.

#include <string>

#include <motes/matching/answer.h>
#include <motes/matching/greedy_problem.h>

namespace motes::matching {

struct GreedyCertificate {
  bool matching_valid = false;  ///< sides agree, pairs are edges, the stated cardinality and weight are right
  bool maximal = false;         ///< no edge has two free ends
  /// Every edge is matched, or shares an end with a matched edge that precedes it in the order of
  /// edge_order.h (heaviest first). This is true of exactly one matching, that of greedy-sorted, whose weight
  /// is at least half of the greatest.
  bool dominant = false;
  double weight = 0;
  /// No matching weighs more than this: the lesser of twice the weight (if dominant) and half the sum of
  /// every vertex's heaviest edge (for bipartite graphs, the lesser of the two sides' sums).
  double upper_bound = 0;
  std::string fault;  ///< the first fault, with its vertices; empty if there is none
};

/// Checks an answer; nothing in it is trusted. The graph must be valid (check_problem). Host problems;
/// O(rows + cols + nnz) on `threads` threads.
GreedyCertificate verify(const GreedyProblem& problem, const Matching& answer, int threads = 1);

}  // namespace motes::matching
