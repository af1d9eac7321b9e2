#pragma once
/// Chooses a part of a large series, on which its motion model and first parameters are estimated.

#include <cstdint>
#include <optional>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// A part in the middle of a series.
struct MiddlePart : SeriesPart {
  /// [part] 0: so near the sides that its track may begin or end there. Becomes `points.inner` after the part
  /// is linked; during linking, tracks may end at the sides.
  std::vector<char> inner;
  std::int32_t first_frame = 0;
};

/// For a series of more than `most` detections: those of every frame in a cube around the median position,
/// about 0.3 x `most`, or more if frames would have too few. Density, spacing and the share of sure partners
/// are those of the whole. None if the part would not be small. The same for any order of the detections
/// within frames. O(points).
std::optional<MiddlePart> middle_part(const Execution& execution, const SeriesPoints& points,
                                      std::int64_t most);

/// For a series of more than `most` detections in many frames: all detections of some frames in the middle,
/// about 0.3 x `most`, or more if these were few frames (few_frames) for links over `lags`. None if there are
/// less than 2.5 times as many frames. O(frames + points of the part).
std::optional<MiddlePart> middle_frames(const SeriesPoints& points, std::int64_t most, int lags);

/// [part] The values of the points of a part, of those of all. O(part).
std::vector<double> of_part(const SeriesPart& part, const std::vector<double>& values);

}  // namespace motes::tracking
