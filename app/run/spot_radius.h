#pragma once
/// The radius and the polarity of the spots of a series.

#include <optional>
#include <string>

#include <motes/base/execution.h>
#include <motes/io/frame_source.h>
#include <motes/tracking/log_detector.h>

#include "app/console.h"
#include "app/options/config.h"

namespace motes::app {

/// The radii and the polarity of the spots to find.
struct SpotRadius {
  Vec3 um;
  std::optional<Vec3> largest_um;  ///< none: one size
  std::string source;              ///< the key it came from, or the frame it was estimated on
  tracking::Polarity polarity = tracking::Polarity::bright;
};

/// The spot radii: detection.radius_um if given, else estimated on frames of the whole series (within
/// input.crop) whatever input.frames is, so that parts of a series agree. If no frame has spots, warns and
/// uses a default. The polarity: detection.polarity if given; else bright, or dark if the first frame shows
/// clear dark spots and hardly any bright ones.
SpotRadius choose_radius(const Execution& execution, const Config& config, io::FrameSource& source,
                         Console& console);

}  // namespace motes::app
