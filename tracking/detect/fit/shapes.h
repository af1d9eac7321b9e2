#pragma once
/// Tells spots of one shape from lumps of a background.

#include <optional>
#include <string>

#include <motes/tracking/log_detector.h>

namespace motes::tracking::detect {

/// A warning if the found spots differ in shape by more than noise explains, as lumps of clouds and parts of
/// fibres do; else none. `dimensions` of the frame: 1 to 3. Uses the columns of fits (positions.h). O(spots).
std::optional<std::string> doubt_of_shapes(const DetectionOptions& options, int dimensions,
                                           const Detections& found);

}  // namespace motes::tracking::detect
