#pragma once
/// Chooses one optimum if there are several.

#include <span>

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// The numbers of rows and columns for the hashes, if a problem is a permuted form of another, so that both
/// get the same choice; empty: their own numbers.
struct TieNames {
  std::span<const Index> rows, cols;
};

/// Of all optimal matchings, returns the one whose pairs and free vertices have the least sum of hashes. It
/// does not depend on the solver, back end or thread count that found `optimal`.
///
/// Every optimal matching consists of edges that are tight under any optimal duals, so this is a second,
/// smaller assignment problem on the tight edges. Its costs are hashes of (row, column) of up to 40 bits,
/// fewer if their sum could exceed 2^60. By the isolation lemma (Mulmuley, Vazirani & Vazirani) two optima
/// have equal sums with a probability of at most 2^-bits times the number of tight edges; only then may
/// answers differ.
///
/// Rows on no cycle of possible exchanges (alternating cycles of tight edges, through free vertices too)
/// have the same partner in every optimum. They are removed first, in linear time; if nothing is left, the
/// optimum is unique.
///
/// Duals, objective and status are unchanged. Throws std::invalid_argument unless `optimal` is an optimal
/// matching of the problem with optimal duals. Device views are searched on their device, and only rows
/// with alternatives are copied to the host. O(size of the problem), plus a sparse solve.
Matching resolve_ties(const Execution& execution, const CostsView& problem, Matching optimal,
                      const TieNames& names = {});

}  // namespace motes::matching
