#pragma once
/// CSV tables of points with or without tracks, in the column names of motes, trackpy and TrackMate.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <motes/tracking/detections.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/track_set.h>

namespace motes::io {

/// The unit of plain x, y, z: columns whose names state no unit.
enum class TableUnit { unknown, um, nm, mm, px };

struct TableOptions {
  std::optional<Vec3> voxel_um;  ///< scales plain x, y, z; if all 1, the unit is called "px"
  std::optional<double> dt_s;
  TableUnit unit =
      TableUnit::unknown;  ///< with um, nm or mm, voxel_um is about images and does not scale the table
  /// Names of columns by role: x, y, z, frame, time (in s unless its name has a unit), particle, parent.
  /// Roles not listed are found by the usual names.
  std::map<std::string, std::string> columns = {};
};

/// Throws InputError if a table with this number of points spans implausibly many frames (over 500,000, and
/// over 1,000 per point). Each frame takes memory, and a single wrong frame number would create millions of
/// them.
void require_dense_frames(std::int64_t frames, std::int64_t points, const std::string& source);

/// The points of a file, with every frame from the first to the last that occurs, empty ones included.
struct PointTable : DetectionSeries {
  std::vector<std::string> notes;  ///< remarks for the user, for instance which identity columns were skipped
};

/// Reads detections from a table: text in UTF-8, Latin-1 or UTF-16 with a byte order mark, plain or gzip,
/// with a header, separated by commas, semicolons, tabs or blanks. Columns: frame|t|FRAME, x|x_um|x
/// [nm]|POSITION_X|Position X ... as docs/formats.md lists. Identity columns (particle, track, track_id,
/// TRACK_ID, parent) are skipped and listed in `notes`; every other numeric column becomes a property.
/// Without a z column z is 0, which is noted. Throws InputError with file:line for a missing header,
/// missing columns, values that are not numbers, NaN or infinite coordinates, negative frames, an integer t
/// that may be seconds, rows of the wrong length, and a table without rows; UsageError naming input.unit if
/// plain x, y, z need it.
PointTable read_points_csv(const std::filesystem::path& path, const TableOptions& options);

/// Whether the file begins like a text table, whatever its name: one of its first lines has at least two
/// separated numbers. O(1).
bool is_text_table(const std::filesystem::path& path);

/// Reads tracks from a table with an identity column. Without voxel_um plain coordinates are kept, in unit
/// "px" (scoring needs no scale). Rows without a track number (empty, None, -1) are skipped, and `notes`,
/// if given, says so. A table without rows is an empty set. Throws InputError as read_points_csv does,
/// and for two points of one track in one frame.
TrackSet read_tracks_csv(const std::filesystem::path& path, const TableOptions& options = {},
                         std::vector<std::string>* notes = nullptr);

/// Writes columns particle, frame, t_s, x_um, y_um, z_um (x, y, z in unit px), parent if known, then the
/// properties. Numbers read back to the same bits. Throws ResourceError for errors of the disk.
void write_tracks_csv(const std::filesystem::path& path, const TrackSet& tracks);

/// Writes columns frame, t_s, x_um, y_um, z_um, radius_um, intensity, quality (those that are known), then
/// the properties. In unit px the lengths are named x, y, z, radius_px. t_s is written if `dt_s` (seconds
/// between frames) is known, or if the frames' times differ from their numbers. Throws ResourceError for
/// errors of the disk.
void write_points_csv(const std::filesystem::path& path, const DetectionSeries& series);

}  // namespace motes::io
