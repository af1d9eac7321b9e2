#pragma once
/// Removal of tracks from a set.

#include <cstdint>
#include <vector>

#include <motes/tracking/track_set.h>

namespace motes {

/// The tracks that are not marked, with the numbers they had; a mother that is left out becomes -1.
/// `left_out`: [tracks]. O(points).
TrackSet without_tracks(TrackSet tracks, const std::vector<char>& left_out);

/// The tracks of at least `points` points, as without_tracks. O(points).
TrackSet without_short_tracks(TrackSet tracks, std::int64_t points);

}  // namespace motes
