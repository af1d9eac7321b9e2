#pragma once
/// Tracks in the Cell Tracking Challenge's format: label masks, one file per frame, and the table
/// res_track.txt with columns L B E P (label, first frame, last frame, parent).

#include <filesystem>
#include <string>
#include <vector>

#include <motes/io/track_image.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

/// Whether the folder has a res_track.txt or man_track.txt.
bool is_ctc(const std::filesystem::path& path);

/// Reads tracks whose positions are the centroids of the labels, in voxels (unit px). Throws InputError if
/// masks are damaged, differ in shape, or lack labels that the table lists. `notes`, if given, receives
/// remarks for the user.
TrackSet read_ctc(const std::filesystem::path& path, std::vector<std::string>* notes = nullptr);

/// Writes a folder of mask000.tif ... and res_track.txt. With image.labels every point becomes its object in
/// the label image (that of its property `label`, else the one at its position), else a sphere; if spheres
/// overlap, a voxel belongs to the nearest centre, in units of the radius. A track with missing frames is
/// split there, and each later part names the earlier one as its parent. Throws UsageError for tracks in um
/// without image.voxel_um, if a radius is unknown (no property radius_um or radius_px and no
/// image.radius_um), for more than 65535 tracks, and for points outside the images; InputError if points have
/// no object of their own.
void write_ctc(const std::filesystem::path& path, const TrackSet& tracks, const TrackImage& image = {});

}  // namespace motes::io
