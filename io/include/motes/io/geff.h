#pragma once
/// GEFF, the graph exchange format for tracks: a Zarr group of nodes and edges.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/tracking/track_set.h>

namespace motes::io {

/// Whether the folder is a Zarr group with GEFF metadata.
bool is_geff(const std::filesystem::path& path);

/// Reads tracks: nodes become points, and paths between divisions and merges become tracks; a node without
/// edges is a track of one point. The axes x, y and z are identified by the display hints, else by their
/// names. If the unit of the time axis is the frame, its values are frame numbers; otherwise times are
/// divided by their interval. Numeric node properties with one value per node are kept; others are listed
/// in `notes`. Throws InputError for missing, damaged or contradictory data.
TrackSet read_geff(const std::filesystem::path& path, std::vector<std::string>* notes = nullptr);

/// Writes GEFF 1.1 as Zarr version 2: axes t (frames, with the interval as their scale), z, y, x; node
/// properties track_id (the tracklet) and lineage_id. Replaces an existing GEFF of that name, but no other
/// file or folder.
void write_geff(const std::filesystem::path& path, const TrackSet& tracks);

}  // namespace motes::io
