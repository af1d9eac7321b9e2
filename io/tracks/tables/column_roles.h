#pragma once
/// The roles of a table's columns, from their names, the units in their names, or input.columns.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::io::detail {

/// Column indices in a header; -1: none.
struct ColumnRoles {
  int frame = -1, x = -1, y = -1, z = -1;
  int track = -1, parent = -1, merged = -1, time = -1;
  int unit = -1;                 ///< a column that states the unit of x, y, z in every row (Imaris)
  std::optional<Vec3> um;        ///< um per unit of x, y, z; none: the header does not state it
  std::string unit_name;         ///< the header's unit, such as "nm", if it is not um
  std::optional<double> time_s;  ///< seconds per unit of `time`; none: a line of units must state it
  bool pixels = false;           ///< whether x, y, z are in pixels by the header
  bool trackmate = false;        ///< up to three lines of names and units may follow the header
  bool bare_t = false;           ///< the frame column is called t, and input.columns does not name it
  bool own_parent = false;       ///< a track without a mother names itself as parent (btrack)
  std::vector<int> properties;
};

/// The names from input.columns, role -> column name. Roles: x, y, z, frame, time, particle, parent.
using ColumnNames = std::map<std::string, std::string>;

/// Finds the columns by name, ignoring case. Of several families the first one that has x and y is used
/// (x_um, x [nm], x, POSITION_X, Position X, axis-3). Times whose name states their unit replace frames if no
/// column counts frames. Throws InputError with `where` for repeated names, for missing frame, x or y
/// columns, and if only some lengths have a unit; UsageError if a name in `given` is not in the header or has
/// two roles.
ColumnRoles assign_roles(const std::vector<std::string>& header, const std::string& where,
                         const ColumnNames& given = {});

/// The names of the header for messages, as many as fit on a line.
std::string listing(const std::vector<std::string>& header);

bool is_pixel(std::string_view unit);

/// Whether it is a unit of length or time, or the pixel.
bool is_unit(std::string_view unit);

/// The unit in "(nm)", "[nm]" or "nm".
std::string_view bare_unit(std::string_view text);

}  // namespace motes::io::detail
