#pragma once
/// Tracks in MTrackJ's text files (.mdf), which are only read.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/tracking/track_set.h>

namespace motes::io {

/// Whether the file begins as one of MTrackJ, plain or gzip.
bool is_mtrackj(const std::filesystem::path& path);

/// Reads tracks, in px. Frames and slices, which MTrackJ counts from 1, are counted from 0. Tracks keep their
/// numbers if these differ throughout, else they are numbered from 1. Properties: `channel` of the points if
/// one is not 1; `cluster` and `assembly` of the tracks if there are several. Throws InputError (file:line)
/// for a damaged or cut line, a file without its last line, and two points of a track in one frame. O(n log
/// n).
TrackSet read_mtrackj(const std::filesystem::path& path, std::vector<std::string>* notes = nullptr);

}  // namespace motes::io
