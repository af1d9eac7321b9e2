#pragma once
/// Pieces of frame pairs that stand for the series where a gate is estimated.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/matching/problem.h>
#include <motes/tracking/detections.h>

namespace motes::tracking {

/// Squared distances, in whole steps, between the rows of a sample and what lies within reach of them.
struct SampledPairs {
  matching::SparseCosts costs;  ///< of rows (rows) and the others (columns)
  double unit_um2 = 1;          ///< one step: (reach / 2^20)^2
};

/// A cube of one frame, whose detections are the rows, and what lies around it in that frame and the next.
struct GateSample {
  std::size_t frame = 0;     ///< index of the earlier frame
  std::int64_t rows = 0;     ///< detections of the earlier frame in the cube
  double reach_um = 0;       ///< kReachPerSpacing x the median nearest-neighbour distance, or less; may be 0
  double density_ratio = 1;  ///< detections of the later frame over those of the earlier
  std::vector<double> spacings;       ///< nearest-neighbour distances of rows; none for a lone detection
  std::vector<double> displacements;  ///< of rows to their mutual nearest neighbours in the next frame
  SampledPairs with_next;  ///< rows and detections of the next frame; no edges where the reach is 0
  SampledPairs within;     ///< rows and the others of their own frame
};

/// Neighbours farther than this many median nearest-neighbour distances are not candidates: no linker does
/// better than chance there.
inline constexpr double kReachPerSpacing = 2.25;

/// Samples of the pairs of successive frames that both have detections, in order: all of them, or as many,
/// spread evenly, as hold about 4096 rows; at most 1024 rows a pair, around a detection in the middle of the
/// frame's list. O(detections of those frames), and O(rows log rows), in `threads` threads; the same for any
/// number of them.
std::vector<GateSample> sample_pairs(int threads, std::span<const Detections> frames);

}  // namespace motes::tracking
