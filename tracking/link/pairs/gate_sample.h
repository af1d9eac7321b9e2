#pragma once
/// Samples of frame pairs for the estimate of a gate.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/matching/problem.h>
#include <motes/tracking/detections.h>

namespace motes::tracking {

/// Squared distances, in whole steps, between the rows of a sample and detections within reach.
struct SampledPairs {
  matching::SparseCosts costs;  ///< rows: of the sample; columns: the other detections
  double unit_um2 = 1;          ///< one step: (reach / 2^20)^2
};

/// A cube in one frame, whose detections are the rows, and its surroundings in that frame and the next.
struct GateSample {
  std::size_t frame = 0;     ///< index of the earlier frame
  std::int64_t rows = 0;     ///< detections of the earlier frame in the cube
  double reach_um = 0;       ///< kReachPerSpacing x the median nearest-neighbour distance, or less; may be 0
  double density_ratio = 1;  ///< number of detections of the later frame over that of the earlier
  std::vector<double> spacings;       ///< [rows] nearest-neighbour distances; empty for a lone detection
  std::vector<double> displacements;  ///< of rows to their mutual nearest neighbours in the next frame
  SampledPairs with_next;             ///< pairs with detections of the next frame; no edges if the reach is 0
  SampledPairs within;                ///< pairs with other detections of the same frame
};

/// Reach in median nearest-neighbour distances. Beyond it linking is not better than chance.
inline constexpr double kReachPerSpacing = 2.25;

/// Samples of pairs of successive frames that both have detections, in order: of all pairs, or of evenly
/// spread ones that hold about 4096 rows. A pair has at most 1024 rows, around a detection in the middle of
/// the frame's list. O(detections of those frames + rows log rows); the same for any number of threads.
std::vector<GateSample> sample_pairs(int threads, std::span<const Detections> frames);

}  // namespace motes::tracking
