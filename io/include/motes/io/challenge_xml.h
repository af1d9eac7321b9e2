#pragma once
/// Tracks in the Particle Tracking Challenge's XML (root/TrackContestISBI2012/particle/detection), and in
/// Icy's (root/trackgroup/track/detection, with links between tracks in root/linklist), which is only read.

#include <filesystem>

#include <motes/tracking/track_set.h>

namespace motes::io {

/// Reads tracks. Lengths have the unit "px", since the format states none; z defaults to 0. Throws
/// InputError with the byte offset for malformed XML, a missing or non-numeric t, x or y, a negative t
/// or one that a particle repeats, and links that name no track or lead back in time.
TrackSet read_challenge_xml(const std::filesystem::path& path);
/// Writes tracks; the file appears whole or not at all. Throws ResourceError for errors of the disk.
void write_challenge_xml(const std::filesystem::path& path, const TrackSet& tracks);
/// Whether the file's content is of one of these formats.
bool is_challenge_xml(const std::filesystem::path& path);

}  // namespace motes::io
