#pragma once
/// Which optimum, where there are several.

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// Among all optimal matchings, the one whose pairs (and free vertices) have the least sum of hashes: the
/// same whichever solver, back end or thread count found `optimal`.
///
/// Any optimal matching lives on the edges that are tight under any optimal duals, so that this is a second,
/// small assignment problem on the tight edges alone. Its costs are hashes of (row, column) of up to 40 bits,
/// fewer where their sum could pass 2^60; two optima with equal sums are then as unlikely as 2^-bits times
/// the number of tight edges (Mulmuley, Vazirani & Vazirani's isolation lemma), and only then may answers
/// differ.
///
/// Most of it need not be solved: rows on no cycle of possible exchanges are the same in every optimum. They
/// are peeled off first, in linear time, and where that is all, the optimum is unique.
///
/// Duals, objective and status stay as they are. `optimal` must be an optimal matching of the problem with
/// its duals; else std::invalid_argument. Device views are searched for
/// alternatives on their device; only those come to the host. O(size of the problem) and a sparse solve.
Matching resolve_ties(const Execution& execution, const CostsView& problem, Matching optimal);

}  // namespace motes::matching
