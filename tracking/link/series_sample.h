#pragma once
/// A part of a large series on which its motion model is chosen and its parameters begin.

#include <cstdint>
#include <optional>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// A part in the middle of a series.
struct MiddlePart : SeriesPart {
  /// [part] 0: so near the sides that its track may begin or end there. For `points.inner`, once the part is
  /// linked: while it is, what ends at the sides must be free to.
  std::vector<char> inner;
  std::int32_t first_frame = 0;
};

/// Of a series of more than `most` detections, those in a cube around their median position in every frame:
/// about 0.3 x `most`, more where frames would be left with too few. Density, spacing and the share of sure
/// partners stay those of the whole. None where the part would be no small one. The same for any order of
/// the detections within frames. O(points).
std::optional<MiddlePart> middle_part(const Execution& execution, const SeriesPoints& points,
                                      std::int64_t most);

/// All detections of frames in the middle, for series of many frames of few detections: about 0.3 x `most`.
/// None where these would not be a third of the frames. O(frames + points of the part).
std::optional<MiddlePart> middle_frames(const SeriesPoints& points, std::int64_t most);

}  // namespace motes::tracking
