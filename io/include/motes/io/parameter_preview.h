#pragma once
/// A picture of what several parameters find in one frame, to choose by eye.

#include <cstddef>
#include <filesystem>
#include <vector>

#include <motes/io/preview.h>
#include <motes/tracking/detections.h>

namespace motes::io {

/// What one choice of parameters finds. `count` may exceed the detections that are drawn.
struct ParameterPanel {
  double radius_um = 0;   ///< of the circles
  double threshold = -1;  ///< of quality; below 0: none was given
  std::size_t count = 0;
  Detections drawn;
};

/// Draws the frame's xy projection once for each panel, in rows, with a circle for each detection, its radius
/// (r), threshold (q) and number of detections (n), and a scale bar. At most `max_pixels` wide. Throws
/// ResourceError where the disk refuses.
void write_parameter_preview_png(const std::filesystem::path& path, const Projection& ground,
                                 const std::vector<std::vector<ParameterPanel>>& rows, int max_pixels = 1920);

}  // namespace motes::io
