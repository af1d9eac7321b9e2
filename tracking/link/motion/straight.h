#pragma once
/// Links of particles that keep their velocity, found without other links.

#include <motes/base/execution.h>
#include <motes/tracking/series_links.h>

namespace motes::tracking {

/// The links between frames that follow each other whose particles move on by about the same displacement, or
/// came by it: near the place so predicted, a detection is nearer than chance explains. Of such links the
/// most likely ones are taken first. Needs no short displacements, but detections in three frames. Few or no
/// links if particles do not keep their velocity. O(points log points).
SeriesLinking link_straight(const Execution& execution, const SeriesPoints& points);

}  // namespace motes::tracking
