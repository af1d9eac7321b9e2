#pragma once
/// GEFF, the graph exchange format for tracks: a Zarr group of nodes and edges.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/tracking/track_set.h>

namespace motes::io {

/// True for a folder that is a Zarr group with GEFF metadata.
bool is_geff(const std::filesystem::path& path);

/// Nodes become points, paths between divisions and merges tracks; a node without edges is a track of one
/// point. Which axes are x, y and z the display hints say, else the axes' names. Frames are the time axis
/// where its unit is the frame, else its times over their interval. Numeric properties of the nodes with one
/// value each are kept; others are named in `notes`. Throws InputError for what is missing, damaged or
/// contradicts itself.
TrackSet read_geff(const std::filesystem::path& path, std::vector<std::string>* notes = nullptr);

/// Writes GEFF 1.1 as Zarr version 2: axes t (frames, with the interval as their scale), z, y, x; node
/// properties track_id (the tracklet) and lineage_id. Replaces a GEFF of that name, nothing else.
void write_geff(const std::filesystem::path& path, const TrackSet& tracks);

}  // namespace motes::io
