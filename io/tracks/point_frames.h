#pragma once
/// Points of formats other than tables, ordered by frame.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <motes/tracking/detections.h>

#include "io/tracks/track_rows.h"

namespace motes::io::detail {

/// The largest span of frames in one file.
constexpr std::int64_t kMaxFrameSpan = 10'000'000;

/// The frames from the first to the last one with a point, including empty ones. `radius` and `quality`
/// [rows]: may be empty (unknown). The times of frames without points are from `dt_s`. Throws InputError that
/// starts with `source` if the frames span more than 10 million.
std::vector<Detections> frames_of_rows(const TrackRows& rows, const std::optional<double>& dt_s,
                                       const std::vector<double>& radius, const std::vector<double>& quality,
                                       const std::string& source);

/// Removes the named column from the rows' properties and returns it; empty if there is none.
std::vector<double> take_property(TrackRows& rows, const std::string& name);

}  // namespace motes::io::detail
