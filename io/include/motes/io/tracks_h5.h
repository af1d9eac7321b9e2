#pragma once
/// tracks.h5, the native format of motes, which stores everything (schema in docs/formats.md).

#include <filesystem>
#include <optional>
#include <string>

#include <motes/tracking/geometry.h>
#include <motes/tracking/pooled_detections.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

/// Data stored along with the tracks.
struct TracksH5Extras {
  const PooledDetections* detections = nullptr;  ///< if given, stored under /detections
  Vec3 voxel_um{1, 1, 1};
  std::string source;         ///< the input that was tracked
  std::string configuration;  ///< the effective YAML
};

/// The images in which the tracks of a file were found.
struct TrackedImages {
  std::string source;  ///< the path as given to the run
  Vec3 voxel_um;
};

/// Throws ResourceError for errors of the disk.
void write_tracks_h5(const std::filesystem::path& path, const TrackSet& tracks,
                     const TracksH5Extras& extras = {});

/// Throws InputError if the file is not HDF5, is truncated, lacks a dataset or contradicts itself.
TrackSet read_tracks_h5(const std::filesystem::path& path);

/// None for other files, for tracks in px, and if the voxel size is unknown (1, 1, 1). Throws as
/// read_tracks_h5.
std::optional<TrackedImages> tracked_images(const std::filesystem::path& path);

/// Whether the file is HDF5 with a group /tracks.
bool is_tracks_h5(const std::filesystem::path& path);

}  // namespace motes::io
