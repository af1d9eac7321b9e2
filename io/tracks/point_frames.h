#pragma once
/// Points of formats other than tables, ordered by frame.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <motes/tracking/detections.h>

#include "io/tracks/track_rows.h"

namespace motes::io::detail {

/// Frames of one file may span at most as many.
constexpr std::int64_t kMaxFrameSpan = 10'000'000;

/// Every frame from the first to the last that occurs, empty ones too. `radius` and `quality` [rows] may be
/// empty: unknown. Frames without points take their times from `dt_s`. Throws InputError starting with
/// `source` where the frames span more than 10 million.
std::vector<Detections> frames_of_rows(const TrackRows& rows, const std::optional<double>& dt_s,
                                       const std::vector<double>& radius, const std::vector<double>& quality,
                                       const std::string& source);

/// Takes the named column out of the rows' properties; empty where there is none.
std::vector<double> take_property(TrackRows& rows, const std::string& name);

}  // namespace motes::io::detail
