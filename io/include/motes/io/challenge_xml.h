#pragma once
/// Tracks in the Particle Tracking Challenge's XML (root/TrackContestISBI2012/particle/detection).

#include <filesystem>

#include <motes/tracking/track_set.h>

namespace motes::io {

/// Unit "px" (the format states none). Throws InputError with the byte offset for malformed XML, and for
/// missing or non-numeric t, x, y; negative or repeated t in one particle; z defaults to 0.
TrackSet read_challenge_xml(const std::filesystem::path& path);
void write_challenge_xml(const std::filesystem::path& path, const TrackSet& tracks);
bool is_challenge_xml(const std::filesystem::path& path);

}  // namespace motes::io
