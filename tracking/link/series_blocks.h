#pragma once
/// A large series in blocks of space and time that overlap, so that each can be linked by itself.
///
/// Every detection is in the core of one block, and its link to a later detection is that block's. Around its
/// core a block sees as much more as its links depend on, its margin. Where the cores of two blocks meet both
/// have linked the same detections: where both would link different ones to a later detection, the block of
/// whose core that one is decides.

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_assignment.h>
#include <motes/tracking/series_model.h>
#include <motes/tracking/series_velocity.h>

namespace motes::tracking {

/// Positions from low (inclusive) to high, frames from first to last (exclusive).
struct BlockRange {
  static constexpr double kFar = std::numeric_limits<double>::infinity();
  Vec3 low{-kFar, -kFar, -kFar}, high{kFar, kFar, kFar};
  std::int32_t first = 0, last = 0;

  bool contains(const Vec3& p, std::int32_t frame) const {
    return frame >= first && frame < last && p.x >= low.x && p.x < high.x && p.y >= low.y && p.y < high.y &&
           p.z >= low.z && p.z < high.z;
  }
};

/// How far a block sees beyond its core.
struct BlockMargin {
  double um = 0;
  std::int32_t frames = 0;
};

/// Four spacings, or four steps where these are longer, and twice the longest gap. `linking`: of a part of
/// the series, to take the steps from.
BlockMargin block_margin(const SeriesPoints& points, const SeriesLinking& linking, int lags);

/// Ranges that part the series: halves, along the axis or the time of which margins are the least share,
/// until no range has more than `most` detections or a margin is more than a quarter of what is left. The
/// same for any order of the detections within frames. O(points log blocks).
std::vector<BlockRange> block_ranges(const SeriesPoints& points, std::int64_t most,
                                     const BlockMargin& margin);

struct SeriesBlock {
  SeriesPoints points;  ///< of the frames from `first_frame` on; densities are those of the series
  std::int32_t first_frame = 0;
  std::vector<matching::Index> whole;  ///< [block] index in the series
  std::vector<char> core;              ///< [block] 0: in the margin
};

/// O(points of the block's frames).
SeriesBlock take_block(const SeriesPoints& points, const BlockRange& range, const BlockMargin& margin);

/// The linking of a series from those of its blocks.
class BlockLinks {
 public:
  explicit BlockLinks(std::size_t points);
  /// Blocks may be added by several threads at once.
  void add(const SeriesBlock& block, const SeriesLinking& linking);
  /// All links. `conflicting` counts those that the block of the later detection has otherwise.
  SeriesLinking linking(std::int64_t& conflicting) const;

 private:
  std::vector<matching::Index> next_,
      previous_;  ///< [points] as the block of whose core each one is has them
};

/// What is kept of a block that was linked.
struct BlockSummary {
  std::vector<std::int64_t> core;  ///< [frames of the block] detections of its core
  std::int32_t first_frame = 0;
  SeriesModel model;
  VelocityModel velocity;
  std::int64_t candidates = 0;
  SeriesSolution solution;  ///< without its links
};

std::vector<std::int64_t> core_of_frames(const SeriesBlock& block);

/// Their counts and objectives, margins counted with each block; verified if all are.
SeriesSolution sum_of_blocks(std::span<const BlockSummary> blocks);

/// Means over the detections of cores; shapes are those of the first block.
SeriesModel mean_model(std::span<const BlockSummary> blocks, std::int32_t frames);

/// Calls link(execution, k) for each of `blocks` blocks, several at a time where there are threads and memory
/// for them: two threads to a block scale best. `most`: detections of a core. The first exception is
/// rethrown.
void for_blocks(const Execution& execution, std::size_t blocks, std::int64_t most,
                const std::function<void(const Execution&, std::size_t)>& link);

/// The model of some frames of those that it was estimated on; `frames` more than there are: the rest get the
/// median scale.
SeriesModel model_of_frames(SeriesModel model, std::int32_t first, std::int32_t frames);

}  // namespace motes::tracking
