#pragma once
/// TrackMate's XML, which is also MaMuT's: spots, edges, tracks, units and the frame interval.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <motes/io/tables.h>
#include <motes/io/track_image.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

/// Whether the root element is TrackMate.
bool is_trackmate_xml(const std::filesystem::path& path);

/// Reads the tracks that TrackMate shows (its filtered tracks). A track that divides or merges is split
/// into its branches, and daughters name their `parent`. Lengths are converted to um if the file states a
/// unit of length, else they are px; times are converted to s if it states a unit of time. RADIUS and
/// QUALITY become radius_um (radius_px) and quality; every other numeric spot feature becomes a property
/// under its own name. Throws InputError with the byte offset for malformed XML, and for spots or edges
/// without required attributes.
TrackSet read_trackmate_xml(const std::filesystem::path& path, std::vector<std::string>* notes = nullptr);

/// Reads all visible spots, whether in tracks or not. Throws as read_trackmate_xml.
PointTable read_trackmate_points(const std::filesystem::path& path);

/// Writes a file for TrackMate 7: one TrackMate track per lineage; the spot feature PARTICLE holds the
/// track's number. A track of one point becomes a spot without a track. Without an image TrackMate shows
/// the spots on an empty one. Throws ResourceError for errors of the disk.
void write_trackmate_xml(const std::filesystem::path& path, const TrackSet& tracks,
                         const TrackImage& image = {});

}  // namespace motes::io
