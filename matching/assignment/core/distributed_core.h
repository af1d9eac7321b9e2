#pragma once
/// `jv` on a matrix or on points whose rows are distributed over ranks: core_solver.h with the pairs of other
/// ranks.

#include <functional>

#include <motes/base/communicator.h>

#include "matching/assignment/core/core_solver.h"

namespace motes::matching::detail {

struct DistributedCoreSettings {
  /// With fewer columns no core is used: rank 0 solves the matrix, if it may gather it.
  Index least_cols = 512;
  /// The most pairs of a matrix that rank 0 may gather if a core does not help. Points are on every rank.
  Offset most_gathered = Offset{1} << 27;
  CoreSize size{0, 0};  ///< of_rows = 0: the usual size for the problem
};

/// Functions of the caller. Collective: every rank calls them.
struct DistributedCoreCalls {
  /// The sides of the problem. `seen`: the selection's findings about the entries, which it checks if they
  /// are float or double; nullptr if there was no selection. Throws on every rank if entries are faulty.
  std::function<CanonicalSides(const CoreSelection* seen)> make_sides;
  /// Matrices: solves the problem without a core; every rank gets the solution.
  std::function<Solution(const CanonicalSides&)> without_core;
};

/// Exact; collective. `entries`: of a matrix the rows `mine` of the canonical form, of points all of them.
/// Every rank selects from its rows and prices them; rank 0 gathers the core and solves it. The others wait
/// for its orders. Every rank gets the solution; seconds are its own. The same for any number of threads. The
/// objective is the same for any number of ranks; where several matchings have it, and in duals, the answers
/// may differ.
///
/// Sent: the core once, to rank 0; of points also the rows that columns choose; in each round the duals, and
/// the pairs that violate them. Memory of rank 0 beside its rows: O(rows + cols + core).
template <class Entries>
Solution solve_distributed_core(Communicator& ranks, const Execution& execution,
                                const CanonicalSides& oriented, const Entries& entries, const Block& mine,
                                const DistributedCoreCalls& calls,
                                const DistributedCoreSettings& settings = {});

/// Copies rank 0's solution to all ranks, except the seconds.
void share_solution(Communicator& ranks, Solution& solution);

}  // namespace motes::matching::detail

namespace motes::matching::device {

/// As detail::DistributedCoreCalls. `largest`: a bound on the magnitude of the entries here; above every
/// legal one if some are faulty.
struct DistributedDeviceCalls {
  std::function<detail::CanonicalSides(Cost largest)> make_sides;
  std::function<detail::Solution(const detail::CanonicalSides&)> without_core;
};

/// The same with a GPU for each rank. `host`: the rows here; `on_device`: a copy of them on this rank's
/// device, or nullptr: they are brought over. If the core misleads, rank 0 gathers the matrix (if that takes
/// less than half of the free memory of its device) and solves it with annealed prices. The objective does
/// not depend on timing; the matching and the duals may. Throws ResourceError on every rank without CUDA or
/// NCCL.
template <class T>
detail::Solution solve_distributed_core(Communicator& ranks, const Execution& execution,
                                        const detail::DenseEntries<T>& host,
                                        const detail::DenseEntries<T>* on_device, Index first,
                                        const DistributedDeviceCalls& calls);

/// Points: `host` has all of them, and so has each device. Every rank finds the neighbours of some rows and
/// columns, and prices these rows; rank 0 solves. If the gate allows few pairs, rank 0 does everything.
detail::Solution solve_distributed_points(Communicator& ranks, const Execution& execution,
                                          const detail::CanonicalSides& sides,
                                          const detail::GeometricEntries& host);

}  // namespace motes::matching::device
