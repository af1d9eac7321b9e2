#pragma once
/// TrackMate's XML (and MaMuT's, which is the same): spots, edges, tracks, units and the frame interval.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <motes/io/tables.h>
#include <motes/io/track_image.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

/// True where the root element is TrackMate.
bool is_trackmate_xml(const std::filesystem::path& path);

/// The tracks that TrackMate shows (its filtered ones); a track that divides or merges is cut into its
/// branches, daughters name their `parent`. Lengths are um where the file states a unit of length, else px;
/// times are s where it states a unit of time. RADIUS and QUALITY become radius_um (radius_px) and quality,
/// every other numeric feature of the spots a property under its own name. Throws InputError with the byte
/// offset for malformed XML, and for spots or edges without what they need.
TrackSet read_trackmate_xml(const std::filesystem::path& path, std::vector<std::string>* notes = nullptr);

/// All visible spots, in tracks or not.
PointTable read_trackmate_points(const std::filesystem::path& path);

/// A file that TrackMate 7 opens: one TrackMate track a lineage, spots that carry the track's number as the
/// feature PARTICLE. A track of one point is a spot without track there. Without an image TrackMate shows the
/// spots on an empty one.
void write_trackmate_xml(const std::filesystem::path& path, const TrackSet& tracks,
                         const TrackImage& image = {});

}  // namespace motes::io
