#pragma once
/// The CUDA forms of cardinality solvers, without CUDA types. They accept problems in either memory space,
/// and throw FaultyStart for a wrong start and ResourceError without a device.

#include <cstdint>

#include "matching/cardinality/ms_bfs/ms_bfs.h"

namespace motes::matching::device {

/// start_cheap, for graphs in either space; always the matching of one CPU thread.
std::vector<Index> cheap_start(const Execution& execution, const CardinalityProblem& problem,
                               std::uint64_t seed);

/// start_karp_sipser, for graphs in either space; the pairs depend on timing.
std::vector<Index> karp_sipser_start(const Execution& execution, const CardinalityProblem& problem,
                                     std::uint64_t seed);

/// `chain`: double pushes that a chain makes before the next global relabelling; 0: by its levels.
void push_relabel(const Execution& execution, const CardinalityProblem& problem, std::int64_t chain,
                  const GivenStart& start, Mates& mates, CardinalityStats& stats);

/// With options.finish the trees stop growing once they have scanned `edges_at_most` edges, and
/// push-relabel does the rest.
void grow_forests(const Execution& execution, const CardinalityProblem& problem, const MsBfsOptions& options,
                  std::int64_t edges_at_most, const GivenStart& start, Mates& mates, CardinalityStats& stats);

}  // namespace motes::matching::device
