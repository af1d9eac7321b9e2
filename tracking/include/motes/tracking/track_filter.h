#pragma once
/// Tracks with some of them left out.

#include <cstdint>

#include <motes/tracking/track_set.h>

namespace motes {

/// The tracks of at least `points` points, with the numbers they had; a mother that is left out becomes -1.
/// O(points).
TrackSet without_short_tracks(TrackSet tracks, std::int64_t points);

}  // namespace motes
