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
/// neighbour: the first of its list, or, `weighted`, the best in the order of edge_order.h. A list holds its
/// neighbours as they are numbered, so that "first" is a random one where the numbers are, which the paper
/// sees to by renumbering its graphs. Bipartite graphs' columns take their turn among the rows; their lists
/// are made first. O(rows + cols + nnz).
class OneByOne final : public GreedySolver {
 public:
  OneByOne(bool weighted, std::uint32_t seed) : weighted_(weighted), seed_(seed) {}

 private:
  void run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const override;
  bool weighted_;
  std::uint32_t seed_;
};

/// Algorithm 2: edges in the order of edge_order.h, each taken where both ends are free. The matching that
/// all forms of the flagship give too. Sorted by digits: O(nnz), besides runs of fewer than 4096 equal
/// digits' edges, which are compared.
class Sorted final : public GreedySolver {
 private:
  void run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const override;
};

}  // namespace motes::matching
