#pragma once
/// The Hungarian solvers over several ranks: a rank's part of the canonical form, by which all of them solve
/// the problem.

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/distributed/distributed_problem.h"

namespace motes::matching {

namespace detail {

/// `entries`: rows [first, ...) of the canonical form (by_covers), or its columns.
template <class Entries>
Solution solve_part(Communicator& ranks, int threads, bool by_covers, const CanonicalSides& sides,
                    const Entries& entries, Index first);

}  // namespace detail

namespace device {

/// With a GPU for each rank. Throws ResourceError on every rank where CUDA or NCCL is lacking on one.
/// `entries` in host memory: rows [first, ...) of the canonical form (by_covers), or its columns.
template <class Entries>
detail::Solution solve_part(Communicator& ranks, const Execution& execution, bool by_covers,
                            const detail::CanonicalSides& sides, const Entries& entries, Index first);

}  // namespace device

}  // namespace motes::matching
