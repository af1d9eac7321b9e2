#pragma once
/// `greedy-suitor`: every vertex proposes to its best neighbour that has no better suitor; a displaced one
/// proposes again.
///
/// Source: Manne & Halappanavar, "New effective multithreaded matching algorithms", IPDPS 2014 (the Suitor
/// algorithm). With the total order of edge_order.h there is one stable outcome, and it is the matching of
/// greedy-sorted (docs/method/solvers.md has the proof): so any number of threads, and any order of
/// proposals, give the same bits. A suitor is one 64-bit word (edge_order.h), and taking a vertex one
/// compare-and-exchange. Of bipartite graphs only the rows propose: half the work, and no columns' side.

#include <motes/matching/greedy_solver.h>

namespace motes::matching {

/// O(proposals * degree); a vertex proposes about twice on the mean where weights are random.
class Suitor final : public GreedySolver {
 private:
  void run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const override;
  void run_on_device(const Execution& execution, const GreedyProblem& problem,
                     GreedyAnswer& answer) const override;
};

}  // namespace motes::matching
