#pragma once
/// `jv` over ranks; solve_dealt calls it after its checks.

#include "matching/assignment/core/dealt_core.h"
#include "matching/distributed/dealt_problem.h"

namespace motes::matching::detail {

/// A matrix. The problem must be of the right form; its entries are checked here.
Matching solve_by_core(Communicator& ranks, const Execution& execution, const DealtCosts& problem,
                       const DealtCoreSettings& settings = {});

}  // namespace motes::matching::detail
