#pragma once
/// `greedy-random`, `greedy-weighted` and `greedy-sorted`: sequential greedy matching, by vertices or by
/// edges.
///
/// Source: Fagginger Auer & Bisseling, "A GPU algorithm for greedy graph matching", 2012, algorithms 1 and
/// 2.

#include <cstdint>

#include <motes/matching/greedy_solver.h>

namespace motes::matching {

/// Algorithm 1: each vertex, in an order drawn from the seed (0: as they are numbered), takes a free
/// neighbour: the first of its list, or, `weighted`, the best in the order of edge_order.h. Lists are sorted
/// by number, so "first" is random if the numbers are, for which the paper renumbers its graphs. The columns
/// of bipartite graphs are ordered among the rows; their lists are built first. O(rows + cols + nnz).
class OneByOne final : public GreedySolver {
 public:
  OneByOne(bool weighted, std::uint32_t seed) : weighted_(weighted), seed_(seed) {}

 private:
  void run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const override;
  bool weighted_;
  std::uint32_t seed_;
};

/// Algorithm 2: edges in the order of edge_order.h, each taken if both ends are free. greedy-suitor gives the
/// same matching. Radix sort: O(nnz), with comparisons for runs of fewer than 4096 edges of equal digits.
class Sorted final : public GreedySolver {
 private:
  void run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const override;
};

}  // namespace motes::matching
