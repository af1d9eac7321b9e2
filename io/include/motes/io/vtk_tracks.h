#pragma once
/// Tracks for ParaView: one polyline per track (.vtp), and the particles at each time (.pvd, .vtkhdf).

#include <cstddef>
#include <filesystem>

#include <motes/tracking/track_set.h>

namespace motes::io {

/// Whether this build has VTK. Without it (MOTES_VTK=OFF) the functions for .vtp and .pvd throw UsageError;
/// .vtkhdf needs HDF5 alone.
bool has_vtk();

/// Writes PolyData: one polyline per track, split where frames are missing, so that no segment bridges a
/// gap. A track of several runs is then several cells with the same `track_id`; a run of one point is a
/// vertex. Point data: frame, time_s, speed (length unit per s, or per frame), properties. Cell data:
/// track_id, length (points of the track), duration. Frames are adjacent if they differ by `frame_step`.
/// Binary appended, compressed. Throws ResourceError for errors of the disk.
void write_tracks_vtp(const std::filesystem::path& path, const TrackSet& tracks, std::int32_t frame_step = 1);

/// Reads tracks from a file of write_tracks_vtp, or any PolyData with track_id and frame. Throws InputError.
TrackSet read_tracks_vtp(const std::filesystem::path& path);

/// The largest number of separate frame files; more would take longer to write than linking takes.
/// tracks.vtkhdf has every frame.
constexpr std::size_t kMostFrameFiles = 2'000;
/// The largest number of properties in these files; further ones are omitted, since VTK's time grows with the
/// square of their number.
constexpr std::size_t kMostFrameProperties = 256;

/// write_frames_pvd writes every n-th of the frames with points; this is n. O(points).
std::size_t frame_file_step(const TrackSet& tracks, std::size_t most_files = kMostFrameFiles);

/// Writes frames.pvd and frames/*.vtp: the points of each frame that has any, with track_id, speed and
/// properties. If there are more than `most_files` such frames, only every frame_file_step()-th. The folder
/// appears first, then the .pvd that lists its files. Throws ResourceError for errors of the disk.
void write_frames_pvd(const std::filesystem::path& pvd_path, const TrackSet& tracks,
                      std::int32_t frame_step = 1, std::size_t most_files = kMostFrameFiles);

/// Removes the files of write_frames_pvd if they exist, and their folder if nothing else is in it.
void remove_frames_pvd(const std::filesystem::path& pvd_path);

/// Writes all frames' points in one VTKHDF file (2.0, temporal PolyData, which ParaView reads from version
/// 5.12): a step for each frame that has points, a vertex for each point. Point data: track_id, frame,
/// speed, parent if divisions are known, properties. Attributes of the root, which VTK ignores:
/// motes_version, units, dt_s, and track_order, the order of the track numbers. Throws ResourceError for
/// errors of the disk.
void write_tracks_vtkhdf(const std::filesystem::path& path, const TrackSet& tracks,
                         std::int32_t frame_step = 1);

/// Reads tracks from a file of write_tracks_vtkhdf, or any temporal VTKHDF PolyData with point data
/// track_id and frame, with any number of parts per step. A point's time is that of its step. Throws
/// InputError.
TrackSet read_tracks_vtkhdf(const std::filesystem::path& path);

/// Whether the file is HDF5 and has a group VTKHDF.
bool is_vtkhdf(const std::filesystem::path& path);

}  // namespace motes::io
