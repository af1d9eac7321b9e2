#pragma once
/// `greedy-suitor`: every vertex proposes to its best neighbour that has no better suitor; a displaced one
/// proposes again.
///
/// Source: Manne & Halappanavar, "New effective multithreaded matching algorithms", IPDPS 2014 (the Suitor
/// algorithm). With the total order of edge_order.h there is one stable outcome, and it is the matching of
/// greedy-sorted: so any number of threads, and any order of proposals, give the same bits. A suitor is one
/// 64-bit word (edge_order.h), and taking a vertex one compare-and-exchange. Of bipartite graphs only the
/// rows propose: half the work, and no column side.
///
/// Proof. A matching is dominant if every edge outside it shares an end with a pair that precedes the edge.
/// 1. One matching is dominant. Walk through the edges in order: an edge with both ends free must be in it,
///    and no other may be. This walk is greedy-sorted.
/// 2. Suitors reach it. A vertex's suitor only improves, and at the end every vertex is the suitor of one
/// that
///    it asked, or was refused by all. Take an edge {v, w} outside the matching: if v asked w, then w had or
///    later got a better suitor; otherwise v ended with one that it prefers. If all vertices propose, the
///    choice is mutual: the first edge is proposed from both ends and never displaced; remove its vertices
///    and repeat. If only rows propose, the result is the stable matching, and the same induction holds.
/// 3. It has at least half of the best weight. Assign each edge of a best matching to one of our pairs that
///    shares an end and is at least as heavy. A pair has two ends, so it receives at most two edges.

#include <motes/matching/greedy_solver.h>

namespace motes::matching {

/// O(proposals * degree); a vertex proposes about twice on average if weights are random.
class Suitor final : public GreedySolver {
 private:
  void run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const override;
  void run_on_device(const Execution& execution, const GreedyProblem& problem,
                     GreedyAnswer& answer) const override;
};

}  // namespace motes::matching
