#pragma once
/// Maxima that are parts of one object.

#include <motes/base/execution.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/response.h"
#include "tracking/detect/scan.h"

namespace motes::tracking::detect {

/// Joins maxima of one object whose inside is seen, such as a long or a large nucleus: those within four
/// sigma of a stronger one with no valley between them. Frames whose filter is narrower than three voxels are
/// left as they are. The strongest keeps its score and quality; its place becomes the mean of all, weighted
/// by their qualities. O(n) where no more than a few are near each other, and O(voxels) once if any are.
void join_parts(const Execution& execution, const VolumeFrame& frame, const Filter& filter, Polarity polarity,
                Spots& spots);

}  // namespace motes::tracking::detect
