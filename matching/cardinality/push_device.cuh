#pragma once
/// Push-relabel (push_kernels.cuh) from a matching in device memory, as a step of solvers that end with it.

#include "matching/cardinality/device_graph.cuh"

namespace motes::matching::device {

/// Whether rows and edges can be told apart in its words.
bool fits_push_relabel(const CardinalityProblem& problem);

/// Makes a matching maximum, on the arena's stream, without waiting. `sides` needs its columns. `chain`:
/// double pushes that a chain makes before the next global relabelling; 0: by its levels. Counters come to
/// the arena's pinned page.
void enqueue_push_relabel(Arena& arena, const DeviceSides& sides, Offset edges, std::int64_t chain,
                          const DeviceMates& there);

/// Adds those counters, once the stream has passed.
void tell_push_relabel(const Arena& arena, CardinalityStats& stats);

}  // namespace motes::matching::device
