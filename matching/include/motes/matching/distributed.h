#pragma once
/// One assignment problem distributed over several ranks (base/communicator.h), each of which holds some
/// rows or some columns of the costs: Date & Nagi 2016, section 5.
///
///   const Split split = split_of("hungarian", costs_view);           // rows or columns
///   DistributedCosts mine = distribute(ranks, split, std::move(costs));  // this rank's part
///   Matching answer = solve_distributed(ranks, execution, "hungarian", mine);
///   Certificate proof = verify_distributed(ranks, execution, mine, answer);
///
/// solve_distributed and verify_distributed are collective: every rank calls them in the same order and gets
/// the whole answer. That of `hungarian` and `hungarian-tree` has the same bits as on one rank, that of `jv`
/// the same objective.
///
/// Memory of a rank: its part of the costs (of a matrix: size / ranks; of points: all of them) and
/// O(rows + cols) more. Data sent in a search: the rows of each round's frontier, and each label once
/// (`hungarian-tree`); the claimed columns of each level (`hungarian`). `jv`, for matrices and points: rank
/// 0 solves a core, some dozen pairs of each row; it gets these once, and in each round sends the duals and
/// gets the pairs that violate them.

#include <optional>
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
struct DistributedCosts {
  Index rows = 0, cols = 0;  ///< of the whole problem
  Split split = Split::rows;
  Block mine;  ///< this rank's rows or columns
  /// Sparse and dense: this rank's rows or columns only. Geometric: all points. Without unmatched costs.
  Costs part;
  std::vector<Cost> unmatched_row_cost, unmatched_col_cost;  ///< of the whole problem, as in problem.h
  /// jv with the cuda back end: a copy of `part` in the memory of this rank's device, so that no other is
  /// made.
  std::optional<DenseCostsView> on_device;
};

/// Whether the solver can use several ranks; true for `jv` (matrices, points), `hungarian` and
/// `hungarian-tree`.
bool runs_on_ranks(std::string_view solver);

/// The side that the solver distributes: `jv` and `hungarian` rows, `hungarian-tree` columns; the other side
/// if the canonical form exchanges them (when rows may stay free and columns may not). O(rows + cols).
Split split_of(std::string_view solver, const CostsView& problem);

/// This rank's part of a problem in host memory that every rank has as a whole. Every rank must pass the same
/// problem; it is consumed.
DistributedCosts distribute(const Communicator& ranks, Split split, Costs&& whole);

/// This rank's part of the problem that a text describes (instances.h), for this solver. For the matrices of
/// gen:uniform and gen:points, each rank makes only its own rows if rows are distributed; all other problems
/// are first made as a whole. Throws UsageError for a wrong text, and what split_of throws.
DistributedCosts distribute_generated(const Communicator& ranks, const Execution& execution,
                                      std::string_view solver, std::string_view text);

/// Solves the problem to optimality, with duals. `solver`: jv, hungarian or hungarian-tree. With the cuda
/// back end each rank keeps its part on its device. The counters are those of the Hungarian solvers on one
/// rank, or of jv's rank 0; seconds are this rank's, and include "communication", which is also part of the
/// stages in which it happens. Throws on every rank: std::invalid_argument for another solver, for another
/// split than split_of gives, or for a malformed problem; ResourceError if memory, a device or NCCL is
/// missing.
Matching solve_distributed(Communicator& ranks, const Execution& execution, std::string_view solver,
                           const DistributedCosts& problem);

/// As verify(), over the pairs of all ranks. Every rank must pass the same matching. O(size of the part). For
/// points on GPUs usually far less: as in verify(), each rank for a block of the rows.
Certificate verify_distributed(Communicator& ranks, const Execution& execution,
                               const DistributedCosts& problem, const Matching& matching);

}  // namespace motes::matching
