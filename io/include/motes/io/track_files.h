#pragma once
/// Track files of every format, by content on reading and by extension on writing.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/io/tables.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

struct TrackFormat {
  std::string name;       ///< "motes HDF5", "CSV", "challenge XML", "VTK PolyData", "VTKHDF over time"
  std::string extension;  ///< ".h5", ".csv", ".xml", ".vtp", ".vtkhdf"
  bool reads, writes;
};

/// The formats `convert` and `score` know.
const std::vector<TrackFormat>& track_formats();

/// Reads tracks in any readable format. Throws InputError, naming the formats it knows when none fits.
TrackSet read_tracks(const std::filesystem::path& path, const TableOptions& options = {});

/// Writes by extension. Throws UsageError for an unknown extension.
void write_tracks(const std::filesystem::path& path, const TrackSet& tracks);

}  // namespace motes::io
