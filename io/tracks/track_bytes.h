#pragma once
/// Tracks as bytes, to send them from one process to another.

#include <optional>
#include <string>
#include <string_view>

#include <motes/tracking/track_set.h>

namespace motes::io::detail {

std::string pack_tracks(const TrackSet& tracks);

/// None if the bytes are not those of a TrackSet with columns of matching lengths, since a malicious file may
/// control the sender.
std::optional<TrackSet> unpack_tracks(std::string_view bytes);

}  // namespace motes::io::detail
