#pragma once
/// Push-relabel (push_kernels.cuh) from a matching in device memory, as the last step of other solvers.

#include "matching/cardinality/two_sided_device_graph.cuh"
#include "matching/init/peel_device.cuh"

namespace motes::matching::device {

namespace pushing {
struct Counters;
}

/// Whether the graph's row and edge numbers fit its words.
bool fits_push_relabel(const CardinalityProblem& problem);

/// The approximate memory of a solution in bytes.
std::size_t push_relabel_bytes(const CardinalityProblem& problem);

/// Makes a matching maximum, on the arena's stream, without waiting. `sides` needs its columns. `chain`:
/// double pushes that a chain makes before the next global relabelling; 0: by its levels. `peeling`: the
/// peeling that made the start, whose settled vertices are skipped; nullptr if there was none.
const pushing::Counters* enqueue_push_relabel(gpu::Arena& arena, const DeviceSides& sides, Offset edges,
                                              std::int64_t chain, const DeviceMates& there,
                                              const Peeling* peeling = nullptr);

/// Adds its counters; waits for the stream.
void tell_push_relabel(gpu::Arena& arena, const pushing::Counters* counters, CardinalityStats& stats);

}  // namespace motes::matching::device
