#pragma once
/// A picture of the detections that several parameters give in one frame, to choose between them by eye.

#include <cstddef>
#include <filesystem>
#include <vector>

#include <motes/io/preview.h>
#include <motes/tracking/detections.h>

namespace motes::io {

/// The detections for one choice of parameters.
struct ParameterPanel {
  double radius_um = 0;   ///< radius of the circles
  double threshold = -1;  ///< lowest quality; negative: automatic
  std::size_t count = 0;  ///< detections found; may exceed those drawn
  Detections drawn;
};

/// Draws the frame's xy projection once per panel, in rows. Each panel shows a circle for each detection,
/// the radius (r), threshold (q) and number of detections (n), and a scale bar. At most `max_pixels` wide.
/// Throws ResourceError for errors of the disk.
void write_parameter_preview_png(const std::filesystem::path& path, const Projection& ground,
                                 const std::vector<std::vector<ParameterPanel>>& rows, int max_pixels = 1920);

}  // namespace motes::io
