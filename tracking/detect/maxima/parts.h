#pragma once
/// Maxima that are parts of one object.

#include <motes/base/execution.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/filter/response.h"
#include "tracking/detect/scan.h"

namespace motes::tracking::detect {

/// Joins maxima of one resolved object, such as a long or large nucleus: those within four sigma of a
/// stronger one without a valley between them. Does nothing if the filter's sigma is below three voxels. The
/// strongest maximum keeps its score and quality; its place becomes the mean of all, weighted by quality.
/// O(n) if only a few maxima are near each other, plus O(voxels) if any are.
void join_parts(const Execution& execution, const VolumeFrame& frame, const Filter& filter, Polarity polarity,
                Spots& spots);

/// Whether objects of the filter's radius fit at these places, by the median distance of nearest neighbours.
/// (Gaps between touching rings, and parts of objects, are nearer to each other.) O(n).
bool are_apart(const Filter& filter, const std::vector<Peak>& peaks);

/// Whether at least half of the objects have a neighbour nearer than 1.1 times their diameter, the filter's.
/// O(n).
bool do_touch(const Filter& filter, const std::vector<Peak>& peaks);

}  // namespace motes::tracking::detect
