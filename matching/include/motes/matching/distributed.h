#pragma once
/// One assignment problem over several ranks (base/communicator.h), each with its rows or its columns of the
/// costs: Date & Nagi 2016, section 5.
///
///   const Split split = split_of("hungarian", costs_view);           // which side that solver deals out
///   DealtCosts mine = deal(ranks, split, std::move(costs));           // this rank's part
///   Matching answer = solve_dealt(ranks, execution, "hungarian", mine);
///   Certificate proof = verify_dealt(ranks, execution, mine, answer);
///
/// All are collective: every rank calls them, in the same order, and every rank gets the whole answer. It has
/// the bits of the solver on one rank, whatever the number of ranks.
///
/// Memory per rank: its part of the costs (a matrix: size / ranks; points: all of them), and O(rows + cols)
/// beside it. Data sent per search: the rows of each round's frontier and each label once
/// (`hungarian-tree`), the claimed columns of each level (`hungarian`).

#include <string_view>
#include <vector>

#include <motes/base/communicator.h>
#include <motes/base/execution.h>
#include <motes/matching/answer.h>
#include <motes/matching/problem.h>
#include <motes/matching/verify.h>

namespace motes::matching {

enum class Split { rows, columns };

/// A rank's part of a problem.
struct DealtCosts {
  Index rows = 0, cols = 0;  ///< of the whole problem
  Split split = Split::rows;
  Block mine;  ///< which rows, or columns, are here
  /// Sparse and dense: this rank's rows, or columns, alone. Geometric: all points. Without unmatched costs.
  Costs part;
  std::vector<Cost> unmatched_row_cost, unmatched_col_cost;  ///< of the whole problem, as in problem.h
};

/// The solver has a form for several ranks: hungarian and hungarian-tree.
bool runs_on_ranks(std::string_view solver);

/// The side that the solver deals out: `hungarian` rows, `hungarian-tree` columns; the other one where the
/// canonical form exchanges them (rows may stay free, and columns may not). O(rows + cols).
Split split_of(std::string_view solver, const CostsView& problem);

/// This rank's part of a problem that every rank has whole; it may be forgotten then. Every rank must give
/// the same problem. Host memory.
DealtCosts deal(const Communicator& ranks, Split split, Costs&& whole);

/// Solves it exactly, with duals. `solver`: hungarian or hungarian-tree. With the cuda back end each rank has
/// its part on its device. Stats are those of the solver on one rank, and seconds of this rank: beside the
/// solver's stages "communication" (where it is part of a stage, it counts there too).
/// Throws on every rank: std::invalid_argument for another solver, another split than split_of says, or a
/// malformed problem; ResourceError where memory, a device or NCCL is lacking.
Matching solve_dealt(Communicator& ranks, const Execution& execution, std::string_view solver,
                     const DealtCosts& problem);

/// verify() over all ranks' pairs. Every rank must give the same matching. O(size of the part).
Certificate verify_dealt(Communicator& ranks, const Execution& execution, const DealtCosts& problem,
                         const Matching& matching);

}  // namespace motes::matching
