#pragma once
/// Tracks as napari's tracks layer takes them: track_id, t, z, y, x.

#include <filesystem>

#include <motes/tracking/track_set.h>

namespace motes::io {

/// Rows by track and frame; t is the frame number, lengths are in the tracks' unit (give the layer
/// scale=[1, 1, 1, 1] and the image its voxel size). Where divisions are known a column parent_track_id, -1
/// none, follows: graph={daughter: [mother]} of the layer.
void write_napari_csv(const std::filesystem::path& path, const TrackSet& tracks);

}  // namespace motes::io
