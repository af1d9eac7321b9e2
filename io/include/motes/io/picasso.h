#pragma once
/// Localisations in Picasso's HDF5 files (a dataset `locs` of records), which are only read.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/io/tables.h>

namespace motes::io {

/// Whether the file is HDF5 with a dataset `locs`.
bool is_picasso(const std::filesystem::path& path);

/// Reads points from the columns frame, x, y and, if there, z; the others become properties. Lengths are in
/// nm in files of Picasso 1.0 and later. In older ones x and y are in pixels and z is in nm: the size of a
/// pixel is that of the options, else `Pixelsize` of the file's .yaml, which a note states. Throws InputError
/// for files without these columns, damaged ones, newer formats, frames and coordinates as read_points_csv;
/// UsageError if no pixel size is known, or z cannot be in pixels.
PointTable read_picasso_points(const std::filesystem::path& path, const TableOptions& options);

/// The same as tracks, by the column track_id, else group (below 0: no track). Without a pixel size, lengths
/// are in px. Throws also InputError without such a column, and for two points of one track in one frame.
TrackSet read_picasso_tracks(const std::filesystem::path& path, const TableOptions& options = {},
                             std::vector<std::string>* notes = nullptr);

}  // namespace motes::io
