#pragma once
/// Tracks for ParaView: one polyline a track, and the particles at each time behind a time slider.

#include <filesystem>

#include "tracking/types/track_set.h"

namespace motes::io {

/// PolyData: one polyline a track, cut where frames are missing, so that no segment bridges a gap: a track of
/// several runs is several cells with one `track_id`. A run of one point is a vertex. Point data: frame,
/// time_s, speed (length unit per s, or per frame), properties. Cell data: track_id, length (points of the
/// track), duration. Frames count as adjacent when they differ by `frame_step`. Binary appended, compressed.
void write_tracks_vtp(const std::filesystem::path& path, const TrackSet& tracks, std::int32_t frame_step = 1);

/// Tracks back from a file that write_tracks_vtp wrote (any PolyData with track_id and frame).
TrackSet read_tracks_vtp(const std::filesystem::path& path);

/// frames.pvd and frames/*.vtp: the points of each frame that has any, with track_id, speed and properties.
/// The folder is written whole first, then the .pvd that names its files.
void write_frames_pvd(const std::filesystem::path& pvd_path, const TrackSet& tracks,
                      std::int32_t frame_step = 1);

}  // namespace motes::io
