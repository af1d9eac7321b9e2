#pragma once
/// Divides a large series into overlapping blocks of space and time, each of which can be linked by itself.
///
/// Every detection is in the core of one block, and its link to a later detection comes from that block. A
/// block also contains a margin around its core, as wide as links depend on it. Near the border of two cores
/// both blocks link the same detections. If they link different ones to a later detection, the block with
/// this later one in its core decides.

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

/// The width of a block's margin.
struct BlockMargin {
  double um = 0;
  std::int32_t frames = 0;
};

/// Four spacings, or four steps if these are longer, and twice the longest gap. `linking`: of a part of the
/// series, which gives the steps.
BlockMargin block_margin(const SeriesPoints& points, const SeriesLinking& linking, int lags);

/// Divides the series into ranges. Each is halved, along the axis or time for which the margin is the
/// smallest share, until it has at most `most` detections or a margin would be more than a quarter of it. The
/// same for any order of the detections within frames. O(points log blocks).
std::vector<BlockRange> block_ranges(const SeriesPoints& points, std::int64_t most,
                                     const BlockMargin& margin);

struct SeriesBlock {
  SeriesPoints points;  ///< frames begin with `first_frame`; densities are those of the series
  std::int32_t first_frame = 0;
  std::vector<matching::Index> whole;  ///< [block] index in the series
  std::vector<char> core;              ///< [block] 0: in the margin
};

/// The detections of a block with its margins. O(points of the block's frames).
SeriesBlock take_block(const SeriesPoints& points, const BlockRange& range, const BlockMargin& margin);

/// Combines the linkings of blocks into that of the series.
class BlockLinks {
 public:
  explicit BlockLinks(std::size_t points);
  /// Several threads may add blocks at once.
  void add(const SeriesBlock& block, const SeriesLinking& linking);
  /// All links. `conflicting`: the number of links for which the block of the later detection has a different
  /// one.
  SeriesLinking linking(std::int64_t& conflicting) const;

 private:
  /// [points] links of each detection in the block whose core holds it.
  std::vector<matching::Index> next_, previous_;
};

/// The results that are kept of a linked block.
struct BlockSummary {
  std::vector<std::int64_t> core;  ///< [frames of the block] number of detections in the core
  std::int32_t first_frame = 0;
  SeriesModel model;
  VelocityModel velocity;
  std::int64_t candidates = 0;
  SeriesSolution solution;  ///< without the links
};

std::vector<std::int64_t> core_of_frames(const SeriesBlock& block);

/// Sums of counts and objectives, including margins; verified if all blocks are.
SeriesSolution sum_of_blocks(std::span<const BlockSummary> blocks);

/// Means over the detections of cores; shapes are those of the first block.
SeriesModel mean_model(std::span<const BlockSummary> blocks, std::int32_t frames);

/// Calls link(execution, k) for each of `blocks` blocks, several at a time if threads and memory suffice; two
/// threads per block scale best. `most`: detections of a core. The first exception is rethrown.
void for_blocks(const Execution& execution, std::size_t blocks, std::int64_t most,
                const std::function<void(const Execution&, std::size_t)>& link);

/// The model for `frames` frames, from the frame `first` of the model on. Frames beyond its last one have the
/// median scale.
SeriesModel model_of_frames(SeriesModel model, std::int32_t first, std::int32_t frames);

}  // namespace motes::tracking
