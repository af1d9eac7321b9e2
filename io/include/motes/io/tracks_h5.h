#pragma once
/// tracks.h5: the project's own complete record (schema in docs/formats.md).

#include <filesystem>
#include <string>
#include <vector>

#include <motes/tracking/detections.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

struct TracksH5Extras {
  const std::vector<Detections>* frames = nullptr;  ///< written under /detections when given
  Vec3 voxel_um{1, 1, 1};
  std::string source;         ///< what was tracked
  std::string configuration;  ///< the effective YAML
};

void write_tracks_h5(const std::filesystem::path& path, const TrackSet& tracks,
                     const TracksH5Extras& extras = {});

/// Throws InputError for a file that is not HDF5, is truncated, lacks a dataset or contradicts itself.
TrackSet read_tracks_h5(const std::filesystem::path& path);

/// True when the file is an HDF5 file with a /tracks group.
bool is_tracks_h5(const std::filesystem::path& path);

}  // namespace motes::io
