#pragma once
/// CSV tables of points, with or without tracks: ours, trackpy's and TrackMate's column names.

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

/// What plain x, y, z (those whose unit the table does not state) are.
enum class TableUnit { unknown, um, nm, mm, px };

struct TableOptions {
  std::optional<Vec3> voxel_um;  ///< scales plain x, y, z; all 1: the unit is then called "px"
  std::optional<double> dt_s;
  TableUnit unit = TableUnit::unknown;  ///< um, nm, mm: voxel_um is for images, and scales no table
  /// Which column is what, role -> name; roles x, y, z, frame, time (in s, or as its name says), particle,
  /// parent. Without one, names tell.
  std::map<std::string, std::string> columns = {};
};

/// Throws InputError where so many points run over more frames than a sound table's do (500,000, and 1,000 a
/// point): each frame takes room, and one frame number that is astray would make millions of them.
void require_dense_frames(std::int64_t frames, std::int64_t points, const std::string& source);

/// The points of a file: every frame from the first to the last that occurs, empty ones too.
struct PointTable : DetectionSeries {
  std::vector<std::string> notes;  ///< for the user: for instance which columns were left out (identities)
};

/// Detections of a table (text in UTF-8, Latin-1 or UTF-16 with a byte order mark, plain or in gzip; header
/// required; separated by comma, semicolon, tab or blanks). Columns: frame|t|FRAME, x|x_um|x
/// [nm]|POSITION_X|Position X ... as docs/user/input.md lists, any further numeric column becomes a property;
/// identity columns (particle, track, track_id, TRACK_ID, parent) are left out and named in `notes`. Without
/// z columns z is 0 (noted). Throws InputError with file:line for: no header, missing columns, a value that
/// is not a number, NaN or infinite coordinates, negative frames, an integer t that may be seconds, rows of the
/// wrong length, no rows; UsageError naming input.unit where plain x, y, z need it.
PointTable read_points_csv(const std::filesystem::path& path, const TableOptions& options);

/// Whether the file starts as a table of text does, whatever its name: one of its first lines holds two
/// numbers or more, separated. O(1).
bool is_text_table(const std::filesystem::path& path);

/// Tracks of a table that has an identity column. Without voxel_um plain coordinates are kept as they are,
/// unit "px" (scoring needs no scale). Rows without a track number (empty, None, -1) are left out; `notes`,
/// where given, says so; a table without rows is an empty set. Also throws InputError for two points of one
/// track in one frame.
TrackSet read_tracks_csv(const std::filesystem::path& path, const TableOptions& options = {},
                         std::vector<std::string>* notes = nullptr);

/// particle, frame, t_s, x_um, y_um, z_um (x, y, z for unit px), parent where known, then the properties.
/// Numbers are written so that they read back to the same bits.
void write_tracks_csv(const std::filesystem::path& path, const TrackSet& tracks);

/// frame, t_s, x_um, y_um, z_um, radius_um, intensity, quality (those known), then the properties. For unit
/// px the lengths are named x, y, z, radius_px. t_s is written where `dt_s` (seconds between frames) is
/// known, and where the frames' times are not their numbers.
void write_points_csv(const std::filesystem::path& path, const DetectionSeries& series);

}  // namespace motes::io
