#pragma once
/// Cell Tracking Challenge: label masks, one file a frame, and res_track.txt (L B E P).

#include <filesystem>
#include <string>
#include <vector>

#include <motes/io/track_image.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

/// True for a folder with res_track.txt or man_track.txt.
bool is_ctc(const std::filesystem::path& path);

/// Positions are the centroids of the labels, in voxels (unit px). Throws InputError for masks that are
/// damaged, differ in shape, or do not hold what the table names.
TrackSet read_ctc(const std::filesystem::path& path, std::vector<std::string>* notes = nullptr);

/// Writes a folder mask000.tif ..., res_track.txt: a sphere a point, voxels to the nearest centre in units of
/// the radius. A track is cut where frames are missing; its later parts name the earlier one as their mother.
/// Throws UsageError for tracks in um without image.voxel_um, where a radius is unknown (neither a property
/// radius_um or radius_px nor image.radius_um), for more than 65535 tracks, and for points outside the
/// images.
void write_ctc(const std::filesystem::path& path, const TrackSet& tracks, const TrackImage& image = {});

}  // namespace motes::io
