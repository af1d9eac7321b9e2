#pragma once
/// The Hungarian solvers over several ranks with a GPU each, without CUDA types. Throws ResourceError on
/// every rank where CUDA or NCCL is lacking on one.

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/distributed/dealt_problem.h"

namespace motes::matching::device {

/// `entries` in host memory: rows [first, ...) of the canonical form (by_covers), or its columns.
template <class Entries>
detail::Solution solve_part(Communicator& ranks, const Execution& execution, bool by_covers,
                            const detail::CanonicalSides& sides, const Entries& entries, Index first);

}  // namespace motes::matching::device
