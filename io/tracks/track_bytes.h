#pragma once
/// Tracks as bytes, to hand them from one process to another.

#include <optional>
#include <string>
#include <string_view>

#include <motes/tracking/track_set.h>

namespace motes::io::detail {

std::string pack_tracks(const TrackSet& tracks);

/// Empty where the bytes are not those of a TrackSet whose columns all have their lengths: the sender may
/// have been taken over by a malicious file.
std::optional<TrackSet> unpack_tracks(std::string_view bytes);

}  // namespace motes::io::detail
