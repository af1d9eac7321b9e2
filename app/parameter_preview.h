#pragma once
/// motes detect --preview-parameters: detections in one frame with several radii and thresholds.

#include <filesystem>

#include <nlohmann/json_fwd.hpp>

#include <motes/base/execution.h>
#include <motes/io/frame_source.h>

#include "app/config.h"
#include "app/console.h"

namespace motes::app {

/// Writes the picture for the first frame that input.frames keeps: radii .7, 1 and 1.4 times the one given or
/// estimated, each without a threshold and with three of them. Of a thick stack only the planes around the
/// middle are drawn; counts are of the whole frame. Returns rows of {radius_um_zyx, threshold, detections},
/// and prints them.
nlohmann::ordered_json preview_parameters(const Execution& execution, const Config& config,
                                          io::FrameSource& source, const std::filesystem::path& picture,
                                          Console& console);

}  // namespace motes::app
