#pragma once
/// Tracks for ParaView: one polyline a track, and the particles at each time behind a time slider.

#include <cstddef>
#include <filesystem>

#include <motes/tracking/track_set.h>

namespace motes::io {

/// Whether this build has VTK. Without it (MOTES_VTK=OFF) the functions for .vtp and .pvd throw UsageError;
/// .vtkhdf needs HDF5 alone.
bool has_vtk();

/// PolyData: one polyline a track, cut where frames are missing, so that no segment bridges a gap: a track of
/// several runs is several cells with one `track_id`. A run of one point is a vertex. Point data: frame,
/// time_s, speed (length unit per s, or per frame), properties. Cell data: track_id, length (points of the
/// track), duration. Frames count as adjacent when they differ by `frame_step`. Binary appended, compressed.
void write_tracks_vtp(const std::filesystem::path& path, const TrackSet& tracks, std::int32_t frame_step = 1);

/// Tracks back from a file that write_tracks_vtp wrote (any PolyData with track_id and frame).
TrackSet read_tracks_vtp(const std::filesystem::path& path);

/// Beyond this many frames, their files would cost more time than linking; tracks.vtkhdf holds every frame.
constexpr std::size_t kMostFrameFiles = 2'000;
/// Of more properties only the first are in the frames' files: VTK's time grows with their square.
constexpr std::size_t kMostFrameProperties = 256;

/// write_frames_pvd writes one in so many of the frames that have points. O(points).
std::size_t frame_file_step(const TrackSet& tracks, std::size_t most_files = kMostFrameFiles);

/// frames.pvd and frames/*.vtp: the points of each frame that has any, with track_id, speed and properties;
/// of more than `most_files` frames, of one in frame_file_step(). The folder is written whole first, then the
/// .pvd that names its files.
void write_frames_pvd(const std::filesystem::path& pvd_path, const TrackSet& tracks,
                      std::int32_t frame_step = 1, std::size_t most_files = kMostFrameFiles);

/// Removes what write_frames_pvd wrote there, and the folder if nothing else is in it; nothing where it is
/// not.
void remove_frames_pvd(const std::filesystem::path& pvd_path);

/// The same points as frames.pvd has, in one file of the VTKHDF format (2.0, temporal PolyData, which
/// ParaView reads from 5.12 on): a step for each frame that has points, a vertex a point. Point data:
/// track_id, frame, speed, parent where divisions are known, properties. Of the root, passed over by VTK:
/// attributes motes_version, units, dt_s, and track_order, the tracks' numbers in their order.
void write_tracks_vtkhdf(const std::filesystem::path& path, const TrackSet& tracks,
                         std::int32_t frame_step = 1);

/// Tracks back from a file that write_tracks_vtkhdf wrote (any temporal VTKHDF PolyData with point data
/// track_id and frame, of any number of parts a step). A point's time is its step's.
TrackSet read_tracks_vtkhdf(const std::filesystem::path& path);

/// Whether the file is HDF5 and has a group VTKHDF.
bool is_vtkhdf(const std::filesystem::path& path);

}  // namespace motes::io
