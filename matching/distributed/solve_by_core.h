#pragma once
/// `jv` over ranks; solve_distributed calls it after its checks.

#include "matching/assignment/core/distributed_core.h"
#include "matching/distributed/distributed_problem.h"

namespace motes::matching::detail {

/// A matrix, or points. The problem must be of the right form; its entries are checked here.
Matching solve_by_core(Communicator& ranks, const Execution& execution, const DistributedCosts& problem,
                       const DistributedCoreSettings& settings = {});

}  // namespace motes::matching::detail
