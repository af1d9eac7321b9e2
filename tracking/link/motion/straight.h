#pragma once
/// Links of particles that keep their velocity, found without other links.

#include <motes/base/execution.h>
#include <motes/tracking/series_links.h>

namespace motes::tracking {

/// The links between successive frames whose particles move on by about the same displacement, or came by it:
/// near the place so predicted, a detection is nearer than chance explains. Sums over all straight tracks
/// give the odds of each link (forward-backward algorithm, Rabiner 1989); the most likely ones are taken
/// first. The same among the rest, for particles that keep their velocity less exactly. Displacements need
/// not be short, but detections in three frames are needed. Few or no links if particles do not keep their
/// velocity. O(points log points).
SeriesLinking link_straight(const Execution& execution, const SeriesPoints& points);

}  // namespace motes::tracking
