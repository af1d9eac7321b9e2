#pragma once
/// A large series in blocks of space and time that overlap, so that each can be linked by itself.
///
/// Every detection is in the core of one block, and its link to a later detection is that block's. Around its
/// core a block sees as much more as its links depend on, its margin. Where the cores of two blocks meet both
/// have linked the same detections: where both would link different ones to a later detection, the block of
/// whose core that one is decides.

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

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
  void add(const SeriesBlock& block, const SeriesLinking& linking);
  /// All links. `disputed` counts those that the block of the later detection has otherwise.
  SeriesLinking linking(std::int64_t& disputed) const;

 private:
  std::vector<matching::Index> next_,
      previous_;  ///< [points] as the block of whose core each one is has them
};

/// What the models of blocks say of the whole: means over detections; shapes are those of the largest block.
class BlockModels {
 public:
  explicit BlockModels(std::int32_t frames);
  void add(const SeriesBlock& block, const SeriesModel& model);
  SeriesModel mean() const;

 private:
  std::vector<double> scale_, weight_;  ///< [frames]
  std::array<double, 3> sums_{};
  std::vector<double> elapsed_;
  double all_ = 0, most_ = 0;
  SeriesModel largest_;
};

/// The model of some frames of those that it was estimated on; `frames` more than there are: the rest get the
/// median scale.
SeriesModel model_of_frames(SeriesModel model, std::int32_t first, std::int32_t frames);

}  // namespace motes::tracking
