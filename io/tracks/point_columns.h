#pragma once
/// What the columns of a point table mean, and their values.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <motes/tracking/properties.h>

namespace motes::io::detail {

/// Which columns of a header hold what; -1 where there is none.
struct ColumnRoles {
  int frame = -1, x = -1, y = -1, z = -1;
  int track = -1, parent = -1, time = -1;
  bool micrometres = false;  ///< x_um, y_um, z_um: no scale is needed
  bool trackmate = false;    ///< up to three lines of names and units may follow the header
  std::vector<int> properties;
};

/// The columns by name, without regard to case; the first family that has x and y wins (x_um, x, POSITION_X).
/// Throws InputError with `where` for repeated names and for missing frame, x or y columns.
ColumnRoles assign_roles(const std::vector<std::string>& header, const std::string& where);

/// A parsed table, rows in the file's order.
struct PointColumns {
  std::vector<std::int32_t> frame;
  std::vector<double> x, y, z;
  std::vector<double> time_s;  ///< empty: no such column, or not numeric
  std::string time_name;
  std::vector<std::optional<std::int64_t>> track;  ///< empty unless asked for
  std::vector<std::int64_t> parent;                ///< empty unless asked for and there
  std::vector<PropertyColumn> properties;          ///< the numeric ones
  std::vector<std::int64_t> line;                  ///< of each row
  std::vector<std::string> identity_names;         ///< identity columns of the header
  bool micrometres = false;
  std::vector<std::string> notes;

  std::size_t size() const { return frame.size(); }
};

/// Reads a table; with `identities`, its track and parent columns too (then the track column is required).
/// Throws InputError (file:line) for what tables.h names.
PointColumns read_point_columns(const std::filesystem::path& path, bool identities);

}  // namespace motes::io::detail
