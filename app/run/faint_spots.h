#pragma once
/// Faint spots: how many false spots to accept in a frame, so that tracks find particles that a single frame
/// does not show.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include <motes/base/execution.h>
#include <motes/io/frame_source.h>
#include <motes/tracking/detections.h>

#include "app/options/config.h"

namespace motes::app {

/// What spots are found for. Over many frames, linking tells particles from noise better than any one frame.
enum class Purpose { spots, tracks };

/// The search for faint spots.
struct FaintSpots {
  double false_per_frame = 0;  ///< false spots to accept in a frame, as DetectionOptions has it
  std::string source;          ///< the evidence that spots are missed
};

/// A searched frame.
struct SampledFrame {
  Detections found;
  bool faint = false;  ///< as in DetectionReport
};

/// Searches the k-th frame, with the automatic choice or with this number of false spots.
using LookForSpots = std::function<SampledFrame(std::size_t k, std::optional<double> false_spots)>;

/// Whether to accept more false spots than the automatic choice does: two for each spot found, if many links
/// between the spots of the first frames bridge frames in which their particle is missed; again two for each
/// spot then found if many still do. The first frames are those of the whole series whatever input.frames is,
/// so that parts of a series agree. None if few are missed, if a setting decides which maxima are spots, if
/// spots differ in size, if frames are not linked as one series with gaps, or if there are too few. At most
/// three frames are searched if these are not faint. Throws as `look` and link_series do.
std::optional<FaintSpots> settle_faint_spots(const Execution& execution, const Config& config,
                                             const io::SeriesInfo& info, bool sizes_differ,
                                             const LookForSpots& look);

/// "spots are faint: 240 false ones a frame are accepted ..."
std::string faint_text(const FaintSpots& faint);

}  // namespace motes::app
