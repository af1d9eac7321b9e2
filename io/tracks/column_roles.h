#pragma once
/// The roles of a table's columns, by their names, the units in their names, or input.columns.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::io::detail {

/// Which columns of a header hold what; -1 where there is none.
struct ColumnRoles {
  int frame = -1, x = -1, y = -1, z = -1;
  int track = -1, parent = -1, time = -1;
  int unit = -1;                 ///< a column that states the unit of x, y, z in every row (Imaris)
  std::optional<Vec3> um;        ///< um in one of x, y, z; none: the header does not say
  std::string unit_name;         ///< "nm": what the header says, where that is not um
  std::optional<double> time_s;  ///< seconds in one of `time`; none: a line of units must say
  bool pixels = false;           ///< x, y, z are in pixels by the header
  bool trackmate = false;        ///< up to three lines of names and units may follow the header
  bool bare_t = false;           ///< the frame column is called t, and input.columns does not name it
  bool own_parent = false;       ///< a track without a mother is its own one (btrack)
  std::vector<int> properties;
};

/// What input.columns names, role -> column name. Roles: x, y, z, frame, time, particle, parent.
using ColumnNames = std::map<std::string, std::string>;

/// The columns by name, without regard to case; of several families the first that has x and y wins (x_um,
/// x [nm], x, POSITION_X, Position X, axis-3). Times whose name states their unit stand in for frames where
/// no column counts these. Throws InputError with `where` for repeated names, for missing frame, x or y
/// columns and for lengths of which only some have a unit; UsageError for a name in `given` that the header
/// lacks or that has two roles.
ColumnRoles assign_roles(const std::vector<std::string>& header, const std::string& where,
                         const ColumnNames& given = {});

/// The header's names for messages, as many as a line bears.
std::string listing(const std::vector<std::string>& header);

bool is_pixel(std::string_view unit);

/// Whether it is a unit of length or time, or the pixel.
bool is_unit(std::string_view unit);

/// The unit in "(nm)", "[nm]" or "nm".
std::string_view bare_unit(std::string_view text);

}  // namespace motes::io::detail
