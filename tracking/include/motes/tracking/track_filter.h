#pragma once
/// Removal of tracks from a set.

#include <cstdint>
#include <vector>

#include <motes/tracking/track_set.h>

namespace motes {

/// The tracks that are not marked, with unchanged track_id; a `parent` or `merged_into` that is left out
/// becomes -1. `left_out`: [tracks] not 0: remove. O(points).
TrackSet without_tracks(TrackSet tracks, const std::vector<char>& left_out);

/// The tracks with at least `points` points, as by without_tracks. O(points).
TrackSet without_short_tracks(TrackSet tracks, std::int64_t points);

}  // namespace motes
