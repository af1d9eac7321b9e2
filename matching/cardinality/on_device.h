#pragma once
/// The CUDA forms of cardinality solvers, without CUDA types. Each takes problems in either space, and mates
/// that hold the start; without a device it throws ResourceShortage.

#include <cstdint>

#include "matching/cardinality/deveci.h"

namespace motes::matching::device {

/// `chain`: double pushes that a chain makes before the next global relabelling; 0: by its levels.
void push_relabel(const Execution& execution, const CardinalityProblem& problem, std::int64_t chain,
                  Mates& mates, CardinalityStats& stats);

void augment_by_levels(const Execution& execution, const CardinalityProblem& problem,
                       const DeveciOptions& options, Mates& mates, CardinalityStats& stats);

}  // namespace motes::matching::device
