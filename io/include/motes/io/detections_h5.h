#pragma once
/// Detections without tracks in HDF5, for tables too large for text (schema in docs/formats.md).

#include <filesystem>
#include <string>

#include <motes/io/tables.h>
#include <motes/tracking/detections.h>

namespace motes::io {

/// The origin of detections, stored with them.
struct DetectionsOrigin {
  std::string source;         ///< the input they were found in
  std::string configuration;  ///< the effective YAML
};

void write_detections_h5(const std::filesystem::path& path, const DetectionSeries& series,
                         const DetectionsOrigin& origin = {});

/// Throws InputError if the file is not HDF5, is truncated, lacks a dataset or contradicts itself.
PointTable read_detections_h5(const std::filesystem::path& path);

/// The detections of a part of a series, and the configuration that produced them.
struct DetectionsPart {
  PointTable points;          ///< with its voxel size
  std::string configuration;  ///< YAML of the sections input and detection (and linking)
};

/// Reads the detections of a file that write_detections_h5 or write_tracks_h5 wrote. Throws as
/// read_detections_h5, and if the file does not contain the configuration.
DetectionsPart read_detections_part(const std::filesystem::path& path);

/// Whether the file is HDF5 with a group /detections and no group /tracks.
bool is_detections_h5(const std::filesystem::path& path);

}  // namespace motes::io
