#pragma once
/// tracks.h5, the native format of motes, which holds everything (schema in docs/formats.md).

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <motes/tracking/detections.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

/// What is stored along with the tracks.
struct TracksH5Extras {
  const std::vector<Detections>* frames = nullptr;  ///< if given, stored under /detections
  Vec3 voxel_um{1, 1, 1};
  std::string source;         ///< the input that was tracked
  std::string configuration;  ///< the effective YAML
};

/// The images whose particles a file holds.
struct TrackedImages {
  std::string source;  ///< as the run was given them
  Vec3 voxel_um;
};

/// Throws ResourceError for errors of the disk.
void write_tracks_h5(const std::filesystem::path& path, const TrackSet& tracks,
                     const TracksH5Extras& extras = {});

/// Throws InputError for a file that is not HDF5, is truncated, lacks a dataset or contradicts itself.
TrackSet read_tracks_h5(const std::filesystem::path& path);

/// None for other files, for tracks in px, and where the voxel size is unknown (1, 1, 1). Throws as
/// read_tracks_h5.
std::optional<TrackedImages> tracked_images(const std::filesystem::path& path);

/// True when the file is an HDF5 file with a /tracks group.
bool is_tracks_h5(const std::filesystem::path& path);

}  // namespace motes::io
