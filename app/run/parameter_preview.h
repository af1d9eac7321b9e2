#pragma once
/// motes detect --preview-parameters: detections in one frame with several radii and thresholds.

#include <filesystem>

#include <nlohmann/json_fwd.hpp>

#include <motes/base/execution.h>
#include <motes/io/frame_source.h>

#include "app/console.h"
#include "app/options/config.h"

namespace motes::app {

/// Writes the picture for the first frame of input.frames: with .7, 1 and 1.4 times the given or estimated
/// radius, each with an automatic threshold and three others. Of a thick stack only the planes around the
/// middle are drawn; counts are for the whole frame. Prints and returns rows of {radius_um_zyx, threshold,
/// detections}. Throws UsageError for labels, or if no frame is left.
nlohmann::ordered_json preview_parameters(const Execution& execution, Config config, io::FrameSource& source,
                                          const std::filesystem::path& picture, Console& console);

}  // namespace motes::app
