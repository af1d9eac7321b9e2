#pragma once
/// `auction` and `auction-scaled`: exact assignment by bidding, on CPU and GPU.
///
/// Source: Vasconcelos & Rosenhahn, "Bipartite Graph Matching Computation on GPU", EMMCVPR 2009 (sections 3.2
/// and 5); the auction is Bertsekas's, epsilon scaling and the reverse direction are Bertsekas's and
/// Castanon's.
///
/// The idea. Rows are persons, columns objects, an object's price is minus its dual v_j. In the bidding phase
/// each free person takes its best offer c_ij - v_j and bids that object's dual down by the distance to its
/// second best offer, and epsilon (eq. 10). In the assignment phase each object goes to its best bid (eq.
/// 11), ties to the lowest person, and its holder is free again. A person whose exit is its best offer
/// leaves for good: offers only get worse. It ends when no person is free. At all times a matched pair misses
/// its person's best offer by no more than epsilon.
///
/// Exactness. Costs are multiplied by `steps` = max(rows, cols) + 2, and the last epsilon is 1. The matching
/// is then optimal, and exact integer duals follow by rounding: let s be a shift in [1, steps - 1] such that
/// no matched object's dual plus s is a multiple of `steps`; there is one, for fewer than steps - 1 residues
/// are taken. With w_j = v_j + s, the duals floor(w_j / steps) are exact. Proof: a pair (i, m) and another
/// edge (i, j), whose costs differ by k = c_im - c_ij cost steps, satisfy w_m >= w_j + k steps - 1, so
/// floor(w_m / steps) >= k + floor((w_j - 1) / steps) = k + floor(w_j / steps), as w_j is not a multiple: the
/// pair is its row's best offer, exactly. Exits are the case w_j = s, and a free object's dual, a multiple of
/// `steps`, rounds to itself. So the certificate has gap 0 without any repair. Where costs are too large for
/// that many steps (beyond 2^59 together), fewer are used, and if then no shift is free, shortest augmenting
/// paths (sparse_augmenting_paths.h, dense_augmenting_paths.h) start from what the auction found; they also
/// finish an auction that runs out of its budget of rounds. Nothing within epsilon is ever called optimal.
///
/// `auction` has one phase with epsilon 1, like the paper. It is fast where offers differ (points that moved
/// little), but persons who compete for too few objects outbid each other in small steps. `auction-scaled`
/// starts with epsilon = the mean difference of two best offers, lowers it from phase to phase, and gives up
/// only pairs that miss the new epsilon.
///
/// Stale prices. A free object must be at its starting price. In the first phase it is, for an object once
/// matched stays matched. But pairs given up between phases may leave objects free below their starting
/// price; without this, answers are wrong, and only the certificate shows it (there is a test). So where
/// columns may stay free, such columns bid for rows after each phase, by the same rules with the sides
/// exchanged (reverse auction), until each is matched or back at its start. Which side bid last decides whose
/// duals are rounded.
///
/// Infeasible problems. In the first phase, with n the smaller side and C the largest cost in auction steps,
/// a row that can be placed at all has a best offer below (n + 1) (2 C + epsilon): along the alternating path
/// that would place it each pair adds at most 2 C + epsilon. An offer above that ends the auction; if the
/// bound is out of range or far away, the budget ends it, and the path search decides.
///
/// Differences from the paper. Convergence: the paper's counter of assigned persons is the length of the
/// frontier of free persons, read on the device; the host waits once, at the end. Only free persons are
/// launched, not all. Full matrices are read little more than once: each person keeps a list of its 64 (CPU:
/// 24) best objects and the least offer outside it, which stays a bound while duals fall. The CPU form is
/// sequential (Gauss-Seidel, first in, first out), so CPU and GPU may find different optima where there are
/// several; each finds the same one on every run and for any number of threads.
///
/// On a GPU, `auction` is the paper's: all rounds on the device (auction_kernels.cuh argues its races).
/// `auction-scaled` does the same on sparse, rectangular and warm-started problems; on square full matrices
/// and points whose vertices must all be matched, the device makes the lists and the host bids
/// (short_list_auction.h), for there the long chains of single bids at the end took most of the time.

#include <motes/matching/assignment_solver.h>

namespace motes::matching {

/// Stats: phases; rounds (bids, where one is made at a time); augmentations (bids, reverse ones included);
/// initial_assignments (pairs given); seconds: auction, paths (where they had to finish).
/// Complexity of a phase: O(bids * 64) and a few reads of each row; memory O(rows + cols + edges), and lists
/// of up to 2.5 KB a row for dense and geometric costs.
class Auction final : public AssignmentSolver {
 private:
  Matching run(const Execution& execution, const CostsView& problem, const Start& start) const override;
};

/// As Auction, with epsilon scaling.
class AuctionScaled final : public AssignmentSolver {
 private:
  Matching run(const Execution& execution, const CostsView& problem, const Start& start) const override;
};

}  // namespace motes::matching
