#pragma once
/// Tracks in the layout of napari's tracks layer: track_id, t, z, y, x.

#include <filesystem>

#include <motes/tracking/track_set.h>

namespace motes::io {

/// Writes rows ordered by track and frame. t is the frame number; lengths are in the tracks' unit (give the
/// layer scale=[1, 1, 1, 1] and the image its voxel size). If divisions are known, a column parent_track_id
/// (-1 for none) follows, from which the layer's graph={daughter: [mother]} can be made. Throws
/// ResourceError for errors of the disk.
void write_napari_csv(const std::filesystem::path& path, const TrackSet& tracks);

}  // namespace motes::io
