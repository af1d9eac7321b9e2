#pragma once
/// Track files of every format, by content on reading and by extension on writing.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/io/tables.h>
#include <motes/io/track_image.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

struct TrackFormat {
  std::string name;       ///< "motes HDF5", "CSV", "challenge XML", "TrackMate XML" ...
  std::string extension;  ///< ".h5", ".csv", ".xml", ".trackmate.xml" ...: how a file's name ends
  bool reads, writes;
};

/// The formats `convert` and `score` know.
const std::vector<TrackFormat>& track_formats();

/// Reads tracks in any readable format. `notes`, where given, says what was left out or converted. Throws
/// InputError, naming the formats it knows when none fits.
TrackSet read_tracks(const std::filesystem::path& path, const TableOptions& options = {},
                     std::vector<std::string>* notes = nullptr);

/// Writes by extension. Throws UsageError for an unknown extension, and for .ctc of tracks in um without
/// image.voxel_um.
void write_tracks(const std::filesystem::path& path, const TrackSet& tracks, const TrackImage& image = {});

/// What of the tracks the format of that extension cannot hold, in words ("times", "track properties"); empty
/// where it holds all. Throws as write_tracks.
std::vector<std::string> lost_in(const std::filesystem::path& path, const TrackSet& tracks);

/// Copies a tracks.h5, of which everything stays. Throws as read_tracks_h5 does.
void copy_tracks_h5(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace motes::io
