#pragma once
/// All pairs of two point sets within a gate, as a graph on the device.

#include <optional>

#include "matching/points/point_tree.cuh"

namespace motes::matching::device {

/// Pairs by row, in device memory; valid until the arena's next reset. Columns of a row come in the order of
/// the column points' tree, which is the same from run to run, but not sorted.
struct PointPairs {
  Offset* offsets = nullptr;  ///< [rows + 1]
  Index* col = nullptr;       ///< [edges]
  Cost* cost = nullptr;       ///< [edges] as computed by GeometricEntries::at
  Offset edges = 0;
};

/// All pairs that the gate allows; none if there are more than `most_per_row` per row on average, or more
/// than 8 times that in a single row. `rows` and `cols` are trees of the entries' points. Warp per row:
/// count, scan, fill. O((rows + edges) log cols).
std::optional<PointPairs> pairs_within_gate(gpu::Arena& arena, const detail::GeometricEntries& entries,
                                            const PointTreeView& rows, const PointTreeView& cols,
                                            int most_per_row);

/// offsets[0] = 0, offsets[k + 1] = counts[0] + ... + counts[k]. Returns the total, waiting for the stream.
Offset scan_counts(gpu::Arena& arena, const Index* counts, Index count, Offset* offsets);

}  // namespace motes::matching::device
