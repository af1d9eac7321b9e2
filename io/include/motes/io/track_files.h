#pragma once
/// Track files of every format, recognised by content when reading and chosen by extension when writing.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/io/tables.h>
#include <motes/io/track_image.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

struct TrackFormat {
  std::string name;       ///< "motes HDF5", "CSV", "challenge XML", "TrackMate XML" ...
  std::string extension;  ///< end of the file's name: ".h5", ".csv", ".xml", ".trackmate.xml" ...
  bool reads, writes;
};

/// The formats that `convert` and `score` know.
const std::vector<TrackFormat>& track_formats();

/// The tracks.h5 in a folder that `motes track` wrote; other paths are returned unchanged.
std::filesystem::path tracks_of_run(const std::filesystem::path& path);

/// Reads tracks in any readable format; from a folder of `motes track`, its tracks.h5. `notes`, if given,
/// receives remarks on skipped or converted data. Throws InputError; if the format is unknown, the message
/// lists the known ones.
TrackSet read_tracks(const std::filesystem::path& path, const TableOptions& options = {},
                     std::vector<std::string>* notes = nullptr);

/// Writes by extension. Throws UsageError for an unknown extension, and for .ctc of tracks in um without
/// image.voxel_um.
void write_tracks(const std::filesystem::path& path, const TrackSet& tracks, const TrackImage& image = {});

/// Names of the data of these tracks that the format with this extension cannot store ("times", "track
/// properties"); empty if it can store everything. Throws as write_tracks.
std::vector<std::string> lost_in(const std::filesystem::path& path, const TrackSet& tracks);

/// Copies a tracks.h5 with all that it contains. Throws as read_tracks_h5.
void copy_tracks_h5(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace motes::io
